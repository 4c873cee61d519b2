package invariant

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/e2e/history"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
)

// nodesLimit is the limit of the number of nodes (Karpenter: pkg/utils/resources, Node).
const nodesLimit = "nodes"

// poolLimitsHold checks that no launch takes a NodePool beyond its limits: of cpu, memory, nodes, or whatever else it
// limits; also when one scheduling pass makes several NodeClaims. Limits bound what a runaway costs.
//
// Source: spec.limits of NodePool (Karpenter: pkg/apis/v1/nodepool.go, Limits). v1.15.0 is known to exceed limits of nodes
// within one batch (upstream issue 2915).
//
// It counts as Karpenter does (pkg/controllers/state/cluster.go, updateNodePoolResources), without the nodes that are being
// deleted or disrupted, so that a pool at its limit can still replace its nodes. A launch is judged by limits that were
// there when its NodeClaim was made.
func poolLimitsHold() Invariant {
	return Invariant{
		Name:     "limits of NodePools are never exceeded",
		Source:   "NodePool spec.limits; Karpenter: pkg/apis/v1/nodepool.go, pkg/controllers/state/cluster.go; upstream issue 2915",
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
	made  map[string]time.Time // when NodeClaims that aren't launched were made, by name
}

// poolLimits are spec.limits of a pool.
type poolLimits struct {
	known   bool
	spec    any
	changed time.Time // zero if they never did
}

func (l *limitMonitor) Observe(m *check.Moment) {
	l.observe(m)
	for _, pool := range m.Seen(karpenter.NodePools) {
		entry(l.pools, pool.Name).learn(m.Time, pool)
	}
	if m.Resource() != karpenter.NodeClaims {
		return
	}
	nodeClaim := m.Event.Object
	if m.Before == nil {
		l.made[nodeClaim.Name] = m.Time
	}
	made, waits := l.made[nodeClaim.Name]
	if !waits || !m.Deleted() && karpenter.ClaimProviderID(nodeClaim.Unstructured()) == "" {
		return
	}
	delete(l.made, nodeClaim.Name)
	limits := entry(l.pools, karpenter.NodePoolOf(nodeClaim.Unstructured()))
	if !m.Deleted() && (limits.changed.IsZero() || made.Sub(limits.changed) > stale) {
		l.judge(m, nodeClaim, quantities(limits.spec))
	}
}

func (l *poolLimits) learn(now time.Time, pool *history.Object) {
	spec := fieldAt(pool.Unstructured(), "spec", "limits")
	if l.known && !equality.Semantic.DeepEqual(spec, l.spec) {
		l.changed = now
	}
	l.known, l.spec = true, spec
}

// judge judges the launch of a NodeClaim by the limits of its pool.
func (l *limitMonitor) judge(m *check.Moment, launched *history.Object, limits map[string]resource.Quantity) {
	if len(limits) == 0 {
		return
	}
	pool := karpenter.NodePoolOf(launched.Unstructured())
	used := map[string]resource.Quantity{}
	var counted []*history.Object
	for _, nodeClaim := range m.World.List(karpenter.NodeClaims) {
		node := l.nodeOf(nodeClaim)
		if karpenter.NodePoolOf(nodeClaim.Unstructured()) != pool || !countsForLimits(node, nodeClaim) {
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
			m.Suspect(fmt.Sprintf("the launch of NodeClaim %s takes pool %s to %s %s, where its limit is %s",
				launched.Name, pool, &sum, name, &limit), counted...)
			return
		}
	}
}

// countsForLimits says whether a NodeClaim, with its node if there is one, uses up what its pool may have.
func countsForLimits(node, nodeClaim *history.Object) bool {
	return karpenter.ClaimProviderID(nodeClaim.Unstructured()) != "" && !deleting(nodeClaim) && !disrupted(node, nodeClaim) &&
		!isTrue(nodeClaim, karpenter.InstanceTerminating)
}

// capacityOf is the node's once it is initialized; before, the NodeClaim's, where the node doesn't say otherwise
// (Karpenter: pkg/controllers/state/statenode.go, Capacity). It is always one node. node may be nil.
func capacityOf(node, nodeClaim *history.Object) map[string]resource.Quantity {
	capacity, initialized := map[string]resource.Quantity{}, labeled(node, karpenter.InitializedLabel)
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
