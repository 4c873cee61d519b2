// Package workload holds what users do to a cluster over time, as data: which objects they apply and delete, and when.
//
//	week, err := workload.Named("week", 1)
//	err = (&workload.Player{...}).Play(ctx, week)
//
// The same name and seed always give the same workload, so that two clusters can be compared by what became of it.
// [Read] makes one from a file.
package workload

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// Workload is a list of actions.
type Workload struct {
	Name    string
	Seed    uint64        // of a named one
	Length  time.Duration // from its start to its end, which no action follows
	Actions []Action      // by their times
	Notes   []string      // what of a file is left out, and why
}

// Action applies an object or deletes it.
type Action struct {
	At     time.Duration // since the start
	Object *unstructured.Unstructured
	Delete bool
}

// CPULabel stands for the provider's own label with a node's number of CPUs in requirements of NodePools; the player
// knows that label. Named workloads keep nodes small by it: a few large nodes would show little.
const CPULabel = "plumbline.test/instance-cpu"

// named returns the named workloads' makers.
func named() map[string]func(*maker) {
	return map[string]func(*maker){"week": week, "night": night, "rollout": rollout, "spiky": spiky, "teams": teams}
}

// Names returns the names that Named knows, sorted.
func Names() []string { return slices.Sorted(maps.Keys(named())) }

// Named returns a named workload. All that varies follows from the seed.
func Named(name string, seed uint64) (*Workload, error) {
	fill, known := named()[name]
	if !known {
		return nil, fmt.Errorf("there is no workload %q; known: %s; or say the path of a file", name,
			strings.Join(Names(), ", "))
	}
	m := newMaker(name, seed)
	fill(m)
	return m.finished(), nil
}

// Shorten ends the workload after some time of it.
func (w *Workload) Shorten(length time.Duration) {
	w.Length = min(w.Length, length)
	w.Actions = slices.DeleteFunc(w.Actions, func(a Action) bool { return a.At > w.Length })
}

// sort puts the actions in the order of their times. Those of one time stay in their order.
func (w *Workload) sort() {
	slices.SortStableFunc(w.Actions, func(a, b Action) int { return cmp.Compare(a.At, b.At) })
}

// Moment returns a time since the start for people: the day from the second one on, and the time of the day.
func Moment(at time.Duration) string {
	clock := fmt.Sprintf("%d:%02d", int(at.Hours())%24, int(at.Minutes())%60)
	if days := int(at / (24 * time.Hour)); days > 0 {
		return fmt.Sprintf("day %d, %s", days+1, clock)
	}
	return clock
}
