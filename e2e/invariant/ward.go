package invariant

import (
	"fmt"
	"math"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// ward is a pool as its budgets see it, and as they saw it a little while ago: what
// Karpenter decides now, it decided by what it knew then.
type ward struct {
	members   map[string]membership // the counted nodes, by name
	voluntary map[string]bool       // those that are being disrupted voluntarily
	spec      []map[string]any      // its budgets, as they were last read
	recent    []sighting            // the last is how it is now
}

// membership is what a node is to its pool's budgets.
type membership struct{ deleting, notReady, voluntary bool }

// sighting is a pool from a time on.
type sighting struct {
	from               time.Time
	budgets            []budget
	nodes              int
	deleting, notReady []string // nodes that others than disruption took out of use
}

// bound says whether any budget holds the pool back.
func (w *ward) bound() bool {
	return slices.ContainsFunc(w.recent, func(s sighting) bool { return len(s.budgets) > 0 })
}

// learn takes over the pool's budgets.
func (w *ward) learn(now time.Time, pool *unstructured.Unstructured) {
	spec := list(pool, "spec", "disruption", "budgets")
	if len(w.recent) > 0 && equality.Semantic.DeepEqual(spec, w.spec) {
		return
	}
	w.spec = spec
	w.saw(now, budgetsOf(spec))
}

// join takes over what a node is now.
func (w *ward) join(now time.Time, name string, is membership) {
	if was, member := w.members[name]; member && was == is {
		return
	}
	w.members[name] = is
	w.saw(now, w.budgets())
}

// leave takes over that a node counts no longer.
func (w *ward) leave(now time.Time, name string) {
	delete(w.members, name)
	w.saw(now, w.budgets())
}

func (w *ward) budgets() []budget {
	if len(w.recent) == 0 {
		return nil
	}
	return w.recent[len(w.recent)-1].budgets
}

// saw adds how the pool is now, and forgets what is older than stale.
func (w *ward) saw(now time.Time, budgets []budget) {
	s := sighting{from: now, budgets: budgets, nodes: len(w.members)}
	w.voluntary = map[string]bool{}
	for name, is := range w.members {
		switch {
		case is.voluntary:
			w.voluntary[name] = true
		case is.deleting:
			s.deleting = append(s.deleting, name)
		case is.notReady:
			s.notReady = append(s.notReady, name)
		}
	}
	w.recent = append(w.recent, s)
	for len(w.recent) > 1 && now.Sub(w.recent[1].from) > stale {
		w.recent = w.recent[1:]
	}
}

// exceeded says how so many voluntary disruptions exceed the budgets, by all that
// Karpenter may have known of the rest; empty if they don't.
func (w *ward) exceeded(now time.Time, voluntary int, reason string) string {
	reasons := []string{reason}
	if reason == "" {
		reasons = []string{drifted, underutilized, empty, unhealthy}
	}
	least, text := math.MaxInt, ""
	for i, s := range w.recent {
		until := now
		if i+1 < len(w.recent) {
			until = w.recent[i+1].from
		}
		if now.Sub(until) > stale {
			continue
		}
		for _, r := range reasons {
			for _, at := range []time.Time{now, now.Add(-stale)} {
				may := allowed(s.budgets, s.nodes, r, at)
				out := voluntary + w.others(s.deleting)
				if r != unhealthy {
					out += w.others(s.notReady)
				}
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

// others counts the nodes that are not among the voluntarily disrupted.
func (w *ward) others(names []string) int {
	n := 0
	for _, name := range names {
		if !w.voluntary[name] {
			n++
		}
	}
	return n
}
