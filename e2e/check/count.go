package check

import (
	"slices"
	"sync"

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
func Where(name string, r schema.GroupVersionResource, match Predicate) Count {
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
func remember(match Predicate) func(*history.Object) bool {
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
