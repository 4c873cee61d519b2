package invariant

import (
	"maps"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/e2e/history"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
)

// nodesLimit is the limit on the number of nodes (Karpenter: pkg/utils/resources, Node).
const nodesLimit = "nodes"

// poolLimitsHold checks that no launch takes a NodePool beyond its limits of cpu, memory,
// nodes, or others, even when one scheduling pass makes several NodeClaims. Limits bound a
// runaway's cost.
//
// It counts as Karpenter does, without nodes that are being deleted or disrupted, so that a
// pool at its limit can still replace its nodes. It does not judge a launch if the limits
// changed after, or within stale before, the NodeClaim was made. v1.15.0 is known to exceed
// limits of nodes within one batch (upstream issue 2915).
func poolLimitsHold() Invariant {
	return Invariant{
		Name: "limits of NodePools are never exceeded",
		Source: "NodePool spec.limits; Karpenter: pkg/apis/v1/nodepool.go, Limits; " +
			"pkg/controllers/state/cluster.go, updateNodePoolResources; upstream issue 2915",
		Untested: "nothing was launched for a NodePool that has limits",
		Reads:    resources{karpenter.Nodes, karpenter.NodeClaims, karpenter.NodePools},
		New: func(Params) check.Monitor {
			return &limitMonitor{newNodeIndex(), map[string]*poolLimits{}, map[string]time.Time{}}
		},
	}
}

type limitMonitor struct {
	nodeIndex
	pools map[string]*poolLimits
	made  map[string]time.Time // when unlaunched NodeClaims were made, by name
}

// poolLimits holds a pool's limits and the NodeClaims that may use them up.
type poolLimits struct {
	known      bool
	spec       any                        // spec.limits
	changed    time.Time                  // when spec changed; zero if never
	nodeClaims map[string]*history.Object // by name
}

func (l *limitMonitor) Observe(m *check.Moment) {
	l.observe(m)
	for _, pool := range m.Seen(karpenter.NodePools) {
		getOrNew(l.pools, pool.Name).learn(m.Time, pool)
	}
	for _, nodeClaim := range m.Seen(karpenter.NodeClaims) {
		l.pool(nodeClaim).nodeClaims[nodeClaim.Name] = nodeClaim
	}
	if m.Resource() != karpenter.NodeClaims {
		return
	}
	nodeClaim := m.Event.Object
	pool := l.pool(nodeClaim)
	if m.Deleted() {
		delete(pool.nodeClaims, nodeClaim.Name)
		delete(l.made, nodeClaim.Name)
		return
	}
	if m.Before == nil {
		l.made[nodeClaim.Name] = m.Time
	}
	made, waits := l.made[nodeClaim.Name]
	if !waits || karpenter.NodeClaimProviderID(nodeClaim.Unstructured()) == "" {
		return
	}
	delete(l.made, nodeClaim.Name)
	if pool.changed.IsZero() || made.Sub(pool.changed) > stale {
		l.judge(m, nodeClaim, pool)
	}
}

// pool returns the limits of a NodeClaim's pool.
func (l *limitMonitor) pool(nodeClaim *history.Object) *poolLimits {
	pool := getOrNew(l.pools, karpenter.NodePoolOf(nodeClaim.Unstructured()))
	if pool.nodeClaims == nil {
		pool.nodeClaims = map[string]*history.Object{}
	}
	return pool
}

func (l *poolLimits) learn(now time.Time, pool *history.Object) {
	spec := fieldAt(pool.Unstructured(), "spec", "limits")
	if l.known && !equality.Semantic.DeepEqual(spec, l.spec) {
		l.changed = now
	}
	l.known, l.spec = true, spec
}

func (l *limitMonitor) judge(m *check.Moment, launched *history.Object, pool *poolLimits) {
	limits, used := quantities(pool.spec), map[string]resource.Quantity{}
	if len(limits) == 0 {
		return
	}
	var counted []*history.Object
	for _, name := range slices.Sorted(maps.Keys(pool.nodeClaims)) {
		nodeClaim := pool.nodeClaims[name]
		node := l.nodeOf(nodeClaim)
		if !countsForLimits(node, nodeClaim) {
			continue
		}
		counted = append(counted, nodeClaim)
		for name, q := range capacityOf(node, nodeClaim) {
			sum := used[name]
			sum.Add(q)
			used[name] = sum
		}
	}
	for _, name := range slices.Sorted(maps.Keys(limits)) {
		limit := limits[name]
		sum, limited := used[name]
		if !limited {
			continue
		}
		m.Tested()
		if sum.Cmp(limit) > 0 {
			m.Suspect("the launch of NodeClaim %s takes pool %s to %s %s, where its limit is %s",
				launched, karpenter.NodePoolOf(launched.Unstructured()), &sum, name, &limit).Beside(counted...)
			return
		}
	}
}

// countsForLimits reports whether a NodeClaim counts against its pool's limits (node may be
// nil).
func countsForLimits(node, nodeClaim *history.Object) bool {
	return karpenter.NodeClaimProviderID(nodeClaim.Unstructured()) != "" && !isDeleting(nodeClaim) &&
		!underDisruption(node, nodeClaim) && !isTrue(nodeClaim, karpenter.InstanceTerminating)
}

// capacityOf returns the capacity of an initialized node. Before that it returns the
// NodeClaim's, with the node's nonzero values instead (Karpenter:
// pkg/controllers/state/statenode.go, Capacity). The number of nodes is 1. node may be nil.
func capacityOf(node, nodeClaim *history.Object) map[string]resource.Quantity {
	capacity, initialized := map[string]resource.Quantity{}, isLabeled(node, karpenter.InitializedLabel)
	if !initialized {
		capacity = quantities(fieldAt(nodeClaim.Unstructured(), "status", "capacity"))
	}
	if node != nil {
		for name, q := range quantities(fieldAt(node.Unstructured(), "status", "capacity")) {
			if initialized || !q.IsZero() {
				capacity[name] = q
			}
		}
	}
	capacity[nodesLimit] = *resource.NewQuantity(1, resource.DecimalSI)
	return capacity
}
