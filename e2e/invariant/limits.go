package invariant

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/e2e/history"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
)

// nodesLimit is the limit of the number of nodes (Karpenter:
// pkg/utils/resources, Node).
const nodesLimit = "nodes"

// limitsHeld is that no launch takes a NodePool beyond its limits: of cpu, memory,
// nodes, or whatever else it limits; also when one scheduling pass makes several
// NodeClaims. They are what keeps a runaway from costing a fortune.
//
// Source: spec.limits of NodePool (Karpenter: pkg/apis/v1/nodepool.go, Limits);
// known to be exceeded in nodes within one batch by v1.15.0 (upstream issue 2915).
//
// Counted as Karpenter counts (pkg/controllers/state/cluster.go,
// updateNodePoolResources): the capacity of the node once it is initialized, before
// that the NodeClaim's, each one node; without those that are being deleted or
// disrupted, so that a pool at its limit can still replace its nodes. A launch is
// judged by limits that were there when its NodeClaim was made.
func limitsHeld() Invariant {
	const name = "limits of NodePools are never exceeded"
	return Invariant{
		Name:   name,
		Source: "NodePool spec.limits; Karpenter: pkg/apis/v1/nodepool.go, pkg/controllers/state/cluster.go; upstream issue 2915",
		Check: func(Params) check.Check {
			return check.Follow(name, "nothing was launched for a NodePool that has limits", func() func(*check.Moment) {
				l := &launches{newFleet(), map[string]*usage{}, map[string]share{}, map[string]time.Time{}}
				return l.follow
			}, karpenter.Nodes, karpenter.NodeClaims, karpenter.NodePools)
		},
	}
}

type launches struct {
	fleet
	pools  map[string]*usage
	shares map[string]share     // what each NodeClaim uses, by its name
	made   map[string]time.Time // when NodeClaims that aren't launched were made, by name
}

// usage is what a pool may use, and uses.
type usage struct {
	known   bool
	spec    any // spec.limits, as it was last read
	limits  map[string]resource.Quantity
	changed time.Time // when the limits were changed; zero if never
	used    map[string]*resource.Quantity
	members map[string]bool // NodeClaims that use it, by name
}

// share is what one NodeClaim uses of its pool.
type share struct {
	pool        string
	initialized bool
	node, claim any // the status.capacity that it was read from
	of          map[string]resource.Quantity
}

func (l *launches) follow(m *check.Moment) {
	l.see(m)
	switch {
	case m.End:
	case m.Event == nil:
		for _, pool := range m.World.List(karpenter.NodePools) {
			l.learn(m.Time, pool)
		}
		for _, claim := range m.World.List(karpenter.NodeClaims) {
			l.count(l.nodeOf(claim), claim)
		}
	case m.Event.Resource == karpenter.NodePools:
		if !gone(m) {
			l.learn(m.Time, m.Event.Object)
		}
	case m.Event.Resource == karpenter.Nodes:
		if node, claim := l.pair(m.Event); claim != nil {
			l.count(node, claim)
		}
	default:
		l.claim(m, m.Event.Object)
	}
}

func (l *launches) learn(now time.Time, object *history.Object) {
	pool := object.Unstructured()
	spec, _, _ := unstructured.NestedFieldNoCopy(pool.Object, "spec", "limits")
	u := l.pool(object.Name)
	if u.known && equality.Semantic.DeepEqual(spec, u.spec) {
		return
	}
	if u.known {
		u.changed = now
	}
	u.known, u.spec, u.limits = true, spec, quantities(spec)
}

func (l *launches) pool(name string) *usage {
	if l.pools[name] == nil {
		l.pools[name] = &usage{used: map[string]*resource.Quantity{}, members: map[string]bool{}}
	}
	return l.pools[name]
}

// claim takes over what became of a NodeClaim, and judges its launch.
func (l *launches) claim(m *check.Moment, claim *history.Object) {
	if gone(m) {
		l.drop(claim.Name)
		delete(l.made, claim.Name)
		return
	}
	if m.Before == nil {
		l.made[claim.Name] = m.Time
	}
	l.count(l.nodeOf(claim), claim)
	made, waiting := l.made[claim.Name]
	if !waiting || karpenter.ClaimProviderID(claim.Unstructured()) == "" {
		return
	}
	delete(l.made, claim.Name)
	u := l.pool(karpenter.NodePoolOf(claim.Unstructured()))
	if u.changed.IsZero() || made.Sub(u.changed) > stale {
		l.judge(m, claim, u)
	}
}

func (l *launches) judge(m *check.Moment, claim *history.Object, u *usage) {
	for _, name := range slices.Sorted(maps.Keys(u.limits)) {
		limit, used := u.limits[name], u.used[name]
		if used == nil {
			continue
		}
		m.Tested()
		if used.Cmp(limit) > 0 {
			m.Suspect(fmt.Sprintf("the launch of NodeClaim %s takes pool %s to %s %s, where its limit is %s",
				claim.Name, karpenter.NodePoolOf(claim.Unstructured()), used, name, &limit), l.standing(m, u)...)
			return
		}
	}
}

// standing are the NodeClaims that use a pool.
func (l *launches) standing(m *check.Moment, u *usage) []*history.Object {
	var claims []*history.Object
	for _, name := range slices.Sorted(maps.Keys(u.members)) {
		if claim := m.World.Get(karpenter.NodeClaims, "", name); claim != nil {
			claims = append(claims, claim)
		}
	}
	return claims
}
