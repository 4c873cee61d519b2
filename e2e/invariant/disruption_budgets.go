package invariant

import (
	"maps"
	"slices"
	"time"

	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/e2e/history"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
)

// disruptionBudgetsHold checks that no voluntary disruption begins that its NodePool's budgets
// forbid for its reason. It counts as Karpenter does. A pool's nodes have a NodeClaim, are
// initialized, and their instance is not terminating yet. Out of use are nodes that are being
// disrupted or deleted for any reason, and nodes that are not ready (but not for node repair).
//
// It judges a node when it gets the disrupted taint, and again when its NodeClaim has the
// reason (DisruptionReason). Before that, the most lenient reason counts; releases before v1.5
// never set it. Nodes that expire or break may exceed a budget: it only keeps Karpenter from
// disrupting more. A change within stale before a disruption counts as either known or not.
// Restarts in place (alpha in v1.15) do not count.
func disruptionBudgetsHold() Invariant {
	return Invariant{
		Name: "disruption budgets are never exceeded",
		Source: "NodePool spec.disruption.budgets; designs/disruption-controls.md, disruption-controls-by-reason.md; " +
			"Karpenter: pkg/controllers/disruption/helpers.go, BuildDisruptionBudgetMapping, NodePoolStats",
		Untested: "no disruption began in a NodePool that has a budget",
		Reads:    resources{karpenter.Nodes, karpenter.NodeClaims, karpenter.NodePools},
		New: func(Params) check.Monitor {
			return &budgetMonitor{newNodeIndex(), map[string]*poolBudgets{}, map[string]countedNode{}}
		},
	}
}

type budgetMonitor struct {
	nodeIndex
	pools   map[string]*poolBudgets
	counted map[string]countedNode // nodes that count, by name
}

// countedNode is a node that counts for its pool's budgets, with its voluntary disruption.
type countedNode struct {
	pool      string
	disrupted bool
	reason    string // empty if not known
	out       int    // nodes of its pool being disrupted when this began, including it
}

func (b *budgetMonitor) Observe(m *check.Moment) {
	b.observe(m)
	for _, pool := range m.Seen(karpenter.NodePools) {
		getOrNew(b.pools, pool.Name).learn(m.Time, pool.Unstructured())
	}
	if m.Event == nil {
		for _, node := range m.Seen(karpenter.Nodes) {
			b.count(m.Time, node.Name, node, b.nodeClaimOf(node))
		}
	} else if m.Resource() != karpenter.NodePools {
		b.judge(m)
	}
}

// judge updates a node, and judges its disruption if that begins or gets a reason.
func (b *budgetMonitor) judge(m *check.Moment) {
	node, nodeClaim := b.pair(m)
	name := m.Event.Object.Name
	if m.Resource() == karpenter.NodeClaims {
		if node == nil {
			return
		}
		name = node.Name
	}
	was := b.counted[name]
	b.count(m.Time, name, node, nodeClaim)
	is := b.counted[name]
	if !is.disrupted || was.disrupted && is.reason == was.reason {
		return
	}
	pool := b.pools[is.pool]
	if !was.disrupted {
		is.out = pool.countVoluntary()
		b.counted[name] = is
	}
	if !pool.haveBudget() {
		return
	}
	m.Tested()
	if excess := pool.exceeded(m.Time, is.out, is.reason); excess != "" {
		because := ""
		if is.reason != "" {
			because = " as " + is.reason
		}
		m.Suspect("node %s of pool %s is disrupted%s, and %s",
			name, is.pool, because, excess).Beside(outOfUse(m.World, node, nodeClaim, pool)...)
	}
}

// outOfUse returns the node, its NodeClaim, and the pool's other nodes that are out of use.
func outOfUse(w *history.World, node, nodeClaim *history.Object, pool *poolBudgets) []*history.Object {
	all := []*history.Object{node, nodeClaim}
	for _, name := range slices.Sorted(maps.Keys(pool.counted)) {
		other := w.Get(karpenter.Nodes, "", name)
		if other != nil && name != node.Name && pool.counted[name] != (usability{}) {
			all = append(all, other)
		}
	}
	return all
}

// count updates what a node is to its pool's budgets. Node and NodeClaim may be nil.
func (b *budgetMonitor) count(now time.Time, name string, node, nodeClaim *history.Object) {
	is, counted := b.counted[name]
	if node == nil || nodeClaim == nil || !isLabeled(node, karpenter.InitializedLabel) ||
		isTrue(nodeClaim, karpenter.InstanceTerminating) {
		if counted {
			b.pools[is.pool].discount(now, name)
			delete(b.counted, name)
		}
		return
	}
	if !counted {
		is.pool = karpenter.NodePoolOf(node.Unstructured())
	}
	voluntary := underDisruption(node, nodeClaim) || is.disrupted && (isDeleting(node) || isDeleting(nodeClaim))
	if !voluntary {
		is = countedNode{pool: is.pool}
	} else if c, _ := karpenter.Condition(nodeClaim.Unstructured(), karpenter.DisruptionReason); c.Status == "True" {
		is.reason = c.Reason
	}
	is.disrupted = voluntary
	b.counted[name] = is
	getOrNew(b.pools, is.pool).count(now, name, usability{
		deleting: isDeleting(nodeClaim), notReady: !karpenter.NodeReady(node.Unstructured()), voluntary: voluntary,
	})
}
