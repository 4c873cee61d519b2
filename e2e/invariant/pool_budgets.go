package invariant

import (
	"fmt"
	"math"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
)

// Reasons of voluntary disruption (Karpenter: pkg/apis/v1/nodepool.go, DisruptionReason).
// Unhealthy is for node repair, since v1.15.
const (
	drifted       = "Drifted"
	underutilized = "Underutilized"
	empty         = "Empty"
	unhealthy     = "Unhealthy"
)

// poolBudgets holds a pool's budgets and the nodes that they count.
type poolBudgets struct {
	spec    []map[string]any // spec.disruption.budgets as last read
	budgets []karpenter.Budget
	counted map[string]usability // nodes, by name
	recent  recent[poolState]
}

// usability is why a node is out of use, if it is.
type usability struct{ deleting, notReady, voluntary bool }

// poolState is a pool at one moment.
type poolState struct {
	budgets            []karpenter.Budget
	nodes              int
	deleting, notReady []string // nodes that are out of use, other than by voluntary disruption
}

func (p *poolBudgets) learn(now time.Time, pool *unstructured.Unstructured) {
	spec := objectsAt(pool, "spec", "disruption", "budgets")
	if len(p.recent) == 0 || !equality.Semantic.DeepEqual(spec, p.spec) {
		p.spec, p.budgets = spec, karpenter.Budgets(pool)
		p.remember(now)
	}
}

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

// discount removes a node that no longer counts.
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

// haveBudget reports whether the pool has a budget, or had one within stale.
func (p *poolBudgets) haveBudget() bool {
	return slices.ContainsFunc(p.recent, func(s dated[poolState]) bool { return len(s.value.budgets) > 0 })
}

func (p *poolBudgets) countVoluntary() int {
	n := 0
	for _, is := range p.counted {
		if is.voluntary {
			n++
		}
	}
	return n
}

// countUndisrupted counts those of the nodes that are not being disrupted voluntarily now.
func (p *poolBudgets) countUndisrupted(nodes []string) int {
	n := 0
	for _, node := range nodes {
		if !p.counted[node].voluntary {
			n++
		}
	}
	return n
}

// exceeded describes how this many voluntary disruptions exceed the budgets. It is empty if
// they do not, by any state of the other nodes that Karpenter may know (within stale).
func (p *poolBudgets) exceeded(now time.Time, voluntary int, reason string) string {
	reasons := []string{reason}
	if reason == "" {
		reasons = []string{drifted, underutilized, empty, unhealthy}
	}
	text := ""
	for s := range p.recent.since(now.Add(-stale)) {
		least := math.MaxInt
		for _, r := range reasons {
			out := voluntary + p.countUndisrupted(s.deleting)
			if r != unhealthy {
				out += p.countUndisrupted(s.notReady)
			}
			for _, at := range []time.Time{now.Add(-stale), now} {
				may := karpenter.AllowedDisruptions(s.budgets, s.nodes, r, at)
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
