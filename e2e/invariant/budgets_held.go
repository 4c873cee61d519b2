package invariant

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/e2e/history"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
)

// budgetsHeld is that no voluntary disruption begins which the budgets of its
// NodePool forbid for its reason, counted as Karpenter counts: of the pool's nodes
// that have a NodeClaim and are initialized, and whose instance isn't terminating
// yet, those that are being disrupted or deleted, for whatever reason, and those
// that are not ready (which node repair doesn't count).
//
// Source: spec.disruption.budgets of NodePool, designs/disruption-controls.md and
// disruption-controls-by-reason.md; Karpenter: pkg/controllers/disruption/helpers.go,
// BuildDisruptionBudgetMapping and NodePoolStats.
//
// It is judged whenever a node gets the disrupted taint, and again when its
// NodeClaim says why (DisruptionReason). As long as that isn't known, and releases
// before v1.5 never say, the most lenient reason counts. Between, nodes that expire or break may
// exceed a budget: it only keeps Karpenter from going on. What others did to a pool
// in the moments before (stale) counts as either done or not. Restarts in place
// (alpha in v1.15) don't count.
func budgetsHeld() Invariant {
	const name = "disruption budgets are never exceeded"
	return Invariant{
		Name:   name,
		Source: "NodePool spec.disruption.budgets; Karpenter: designs/disruption-controls.md, pkg/controllers/disruption/helpers.go",
		Check: func(Params) check.Check {
			return check.Follow(name, "no disruption began in a NodePool that has a budget", func() func(*check.Moment) {
				b := &disruptions{newFleet(), map[string]*ward{}, map[string]string{}, map[string]string{}, map[string]int{}}
				return b.follow
			}, karpenter.Nodes, karpenter.NodeClaims, karpenter.NodePools)
		},
	}
}

type disruptions struct {
	fleet
	wards  map[string]*ward  // by pool
	poolOf map[string]string // pools of counted nodes, by the node's name
	why    map[string]string // reasons of the disruptions under way, by the node's name
	order  map[string]int    // how many were out of use when a node's disruption began, by its name
}

func (d *disruptions) follow(m *check.Moment) {
	d.see(m)
	switch {
	case m.End:
	case m.Event == nil:
		for _, pool := range m.World.List(karpenter.NodePools) {
			d.ward(pool.Name).learn(m.Time, pool.Unstructured())
		}
		for _, node := range m.World.List(karpenter.Nodes) {
			d.count(m.Time, node.Name, node, d.claimOf(node))
		}
	case m.Event.Resource == karpenter.NodePools:
		if !gone(m) {
			d.ward(m.Event.Object.Name).learn(m.Time, m.Event.Object.Unstructured())
		}
	default:
		d.judge(m)
	}
}

func (d *disruptions) ward(pool string) *ward {
	if d.wards[pool] == nil {
		d.wards[pool] = &ward{members: map[string]membership{}}
	}
	return d.wards[pool]
}

// judge takes over what became of a node, and judges whether this was allowed if it
// was the beginning of a disruption.
func (d *disruptions) judge(m *check.Moment) {
	node, claim := d.pair(m.Event)
	name := m.Event.Object.Name
	if m.Event.Resource == karpenter.NodeClaims {
		if node == nil {
			return
		}
		name = node.Name
	}
	known, under := d.why[name]
	d.count(m.Time, name, node, claim)
	why, still := d.why[name]
	if !still || under && why == known {
		return
	}
	w := d.wards[d.poolOf[name]]
	if !under {
		d.order[name] = len(w.voluntary)
	}
	if !w.bound() {
		return
	}
	m.Tested()
	if reason := w.exceeded(m.Time, d.order[name], why); reason != "" {
		m.Suspect(fmt.Sprintf("node %s of pool %s is disrupted%s, and %s", name, d.poolOf[name], because(why), reason), d.standing(m.World, node, claim, w)...)
	}
}

// standing are the node, its NodeClaim, and the others of its pool that are out of use.
func (d *disruptions) standing(world *history.World, node, claim *history.Object, w *ward) []*history.Object {
	all := []*history.Object{node, claim}
	for _, name := range slices.Sorted(maps.Keys(w.members)) {
		other := world.Get(karpenter.Nodes, "", name)
		if other != nil && name != node.Name && w.members[name] != (membership{}) {
			all = append(all, other)
		}
	}
	return all
}

// count says what a node is to its pool's budgets now.
func (d *disruptions) count(now time.Time, name string, node, claim *history.Object) {
	pool := d.poolOf[name]
	if node == nil || claim == nil || !labelled(node, karpenter.InitializedLabel) || reached(claim, karpenter.InstanceTerminating) {
		if pool != "" {
			d.wards[pool].leave(now, name)
			delete(d.poolOf, name)
			delete(d.why, name)
			delete(d.order, name)
		}
		return
	}
	if pool == "" {
		pool = karpenter.NodePoolOf(node.Unstructured())
		d.poolOf[name] = pool
	}
	_, under := d.why[name]
	is := membership{
		deleting:  deleting(claim),
		notReady:  !karpenter.NodeReady(node.Unstructured()),
		voluntary: disrupted(node, claim) || under && (deleting(node) || deleting(claim)),
	}
	if is.voluntary {
		if c, ok := karpenter.Condition(claim.Unstructured(), karpenter.DisruptionReason); ok && c.Status == "True" {
			d.why[name] = c.Reason
		} else if !under {
			d.why[name] = ""
		}
	} else {
		delete(d.why, name)
		delete(d.order, name)
	}
	d.ward(pool).join(now, name, is)
}

func because(reason string) string {
	if reason == "" {
		return ""
	}
	return " as " + reason
}
