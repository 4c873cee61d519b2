package invariant

import (
	"fmt"
	"math"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// poolBudgets are a pool's budgets and the nodes that they count.
type poolBudgets struct {
	spec    []map[string]any // spec.disruption.budgets as it was last read
	budgets []budget
	counted map[string]usability // nodes, by name
	recent  recent[poolState]
}

// usability says why a node is out of use, if it is.
type usability struct{ deleting, notReady, voluntary bool }

// poolState is a pool at a moment.
type poolState struct {
	budgets            []budget
	nodes              int
	deleting, notReady []string // nodes that are out of use, other than by voluntary disruption
}

// learn takes over the pool's budgets.
func (p *poolBudgets) learn(now time.Time, pool *unstructured.Unstructured) {
	spec := objectsAt(pool, "spec", "disruption", "budgets")
	if len(p.recent) == 0 || !equality.Semantic.DeepEqual(spec, p.spec) {
		p.spec, p.budgets = spec, budgetsOf(spec)
		p.remember(now)
	}
}

// count takes over what a node is now.
func (p *poolBudgets) count(now time.Time, node string, is usability) {
	if was, counted := p.counted[node]; counted && was == is {
		return
	}
	if p.counted == nil {
		p.counted = map[string]usability{}
	}
	p.counted[node] = is
	p.remember(now)
}

// discount takes over that a node counts no longer.
func (p *poolBudgets) discount(now time.Time, node string) {
	delete(p.counted, node)
	p.remember(now)
}

func (p *poolBudgets) remember(now time.Time) {
	s := poolState{budgets: p.budgets, nodes: len(p.counted)}
	for node, is := range p.counted {
		switch {
		case is.voluntary:
		case is.deleting:
			s.deleting = append(s.deleting, node)
		case is.notReady:
			s.notReady = append(s.notReady, node)
		}
	}
	p.recent.set(now, s)
	p.recent.forget(now.Add(-stale))
}

// haveBudget says whether the pool has a budget, or had one a little while ago.
func (p *poolBudgets) haveBudget() bool {
	return slices.ContainsFunc(p.recent, func(s dated[poolState]) bool { return len(s.value.budgets) > 0 })
}

// voluntary is how many nodes are being disrupted voluntarily.
func (p *poolBudgets) voluntary() int {
	n := 0
	for _, is := range p.counted {
		if is.voluntary {
			n++
		}
	}
	return n
}

// others counts the nodes that are not being disrupted voluntarily now.
func (p *poolBudgets) others(nodes []string) int {
	n := 0
	for _, node := range nodes {
		if !p.counted[node].voluntary {
			n++
		}
	}
	return n
}

// exceeded says how so many voluntary disruptions exceed the budgets now. It is empty if they don't, by what Karpenter
// knows or may still have known of the other nodes.
func (p *poolBudgets) exceeded(now time.Time, voluntary int, reason string) string {
	reasons := []string{reason}
	if reason == "" {
		reasons = []string{drifted, underutilized, empty, unhealthy}
	}
	text := ""
	for s := range p.recent.since(now.Add(-stale)) {
		least := math.MaxInt
		for _, r := range reasons {
			out := voluntary + p.others(s.deleting)
			if r != unhealthy {
				out += p.others(s.notReady)
			}
			for _, at := range []time.Time{now.Add(-stale), now} {
				may := allowedDisruptions(s.budgets, s.nodes, r, at)
				if out <= may {
					return ""
				}
				if out-may < least {
					least = out - may
					text = fmt.Sprintf("with it %d of %d nodes are out of use, where the budgets allow %d", out, s.nodes, may)
				}
			}
		}
	}
	return text
}
