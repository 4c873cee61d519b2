package check

import (
	"slices"
	"sync"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/plumbline-e2e/plumbline/e2e/history"
)

// Named is anything with a name: the builders of package fixtures, and objects.
type Named interface{ GetName() string }

// Count is a named set of objects, such as "ready nodes of pool x". Claims are
// made about how many there are.
type Count struct {
	// Name says what is counted, in the plural, as it reads after a number.
	Name string
	// Of are the counted objects of a world.
	Of func(*history.World) []*history.Object
	// Among are the objects that could come to be counted: what must be there
	// for "there is none" to mean something. With ready nodes of a pool it is
	// the nodes of the pool. Without it, "there is none" is never put to the
	// test by itself.
	Among func(*history.World) []*history.Object
	// Reads are the resources that Of and Among look at, so that other events
	// cost nothing; empty means all.
	Reads []schema.GroupVersionResource
}

// String is the name.
func (c Count) String() string { return c.Name }

// Where is the objects of a resource for which match is true. It is asked once
// for each state of each object, whatever the number of events; so the answer
// must come from the object alone.
func Where(name string, r schema.GroupVersionResource, match func(*unstructured.Unstructured) bool) Count {
	remembered := remember(match)
	return Count{
		Name:  name,
		Reads: []schema.GroupVersionResource{r},
		Of: func(w *history.World) []*history.Object {
			return slices.DeleteFunc(w.List(r), func(o *history.Object) bool { return !remembered(o) })
		},
	}
}

// remember asks match once for each state of an object.
func remember(match func(*unstructured.Unstructured) bool) func(*history.Object) bool {
	var mu sync.Mutex
	answers := map[*history.Object]bool{}
	return func(o *history.Object) bool {
		mu.Lock()
		defer mu.Unlock()
		answer, known := answers[o]
		if !known {
			answer = match(o.Unstructured())
			answers[o] = answer
		}
		return answer
	}
}

// Named is the same count under another name.
func (c Count) Named(name string) Count {
	c.Name = name
	return c
}

// AmongObjects is the same count, with other objects among which one could come
// to be counted: that there is no event about a pod says something once there
// is the pod.
func (c Count) AmongObjects(of Count) Count {
	c.Among, c.Reads = of.Of, readsBoth(c.Reads, of.Reads)
	return c
}

// With is the counted objects for which match is true as well; words say which,
// as they read after the name: "nodes of pool x" with "that are tainted". All
// of c are those that could come to be counted.
func (c Count) With(words string, match func(*unstructured.Unstructured) bool) Count {
	remembered := remember(match)
	return c.refine(c.Name+" "+words, remembered)
}

// Old is the counted objects that were there in an earlier world (the same
// UID), New those that were not.
func (c Count) Old(since *history.World) Count {
	known := uids(since)
	return c.refine(c.Name+" from before", func(o *history.Object) bool { return known[o.UID] })
}

// New is the counted objects that were not there in an earlier world.
func (c Count) New(since *history.World) Count {
	known := uids(since)
	return c.refine(c.Name+" that are new", func(o *history.Object) bool { return !known[o.UID] })
}

func uids(w *history.World) map[string]bool {
	known := map[string]bool{}
	for _, r := range w.Resources() {
		for _, o := range w.List(r) {
			known[o.UID] = true
		}
	}
	return known
}

func (c Count) refine(name string, keep func(*history.Object) bool) Count {
	return Count{
		Name:  name,
		Among: c.Of,
		Reads: c.Reads,
		Of: func(w *history.World) []*history.Object {
			return slices.DeleteFunc(c.Of(w), func(o *history.Object) bool { return !keep(o) })
		},
	}
}

// among says whether anything is there that could be counted.
func (c Count) among(w *history.World) bool {
	return c.Among != nil && len(c.Among(w)) > 0
}

// readsBoth is what a claim about both counts reads; all, if one reads all.
func readsBoth(a, b []schema.GroupVersionResource) []schema.GroupVersionResource {
	if len(a) == 0 || len(b) == 0 {
		return nil
	}
	both := slices.Clone(a)
	for _, r := range b {
		if !slices.Contains(both, r) {
			both = append(both, r)
		}
	}
	return both
}
