package check

import (
	"slices"
	"sync"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/plumbline-e2e/plumbline/e2e/history"
)

// Named is anything with a name: the builders of package fixtures, and objects.
type Named interface{ GetName() string }

// Count is a named set of objects, such as "ready nodes of pool x".
type Count struct {
	// Name is the name in the plural, as it reads after a number.
	Name string
	// Of returns the counted objects of a world.
	Of func(*history.World) []*history.Object
	// Among returns the candidates: objects that could come to be counted, such as the nodes
	// of a pool for its ready nodes. "There are none" is exercised only while there are
	// candidates.
	Among func(*history.World) []*history.Object
	// Reads are the resources that Of and Among look at; empty means all. Others cost nothing.
	Reads []schema.GroupVersionResource
}

// String returns the name.
func (c Count) String() string { return c.Name }

// Where returns the objects of a resource that match. It calls match once for each state of
// each object, so the answer must depend on the object alone.
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

// remember calls match once for each state of an object.
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

func (c Count) hasCandidates(w *history.World) bool {
	return c.Among != nil && len(c.Among(w)) > 0
}

// readsBoth returns the resources of both lists; empty (all) if one of them is empty.
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
