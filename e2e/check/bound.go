package check

import (
	"fmt"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/plumbline-e2e/plumbline/e2e/history"
)

// Bound is a claim about the number of objects.
type Bound struct {
	how      string // the bound in words, without its number
	min, max int
	count    Count
}

const unbounded = int(^uint(0) >> 1)

// AtMost claims that there are at most n. It is exercised while there is one. See None for 0.
func AtMost(n int, c Count) Bound { return Bound{"at most", 0, n, c} }

// AtLeast claims that there are at least n. It is exercised while there is one; for n = 1,
// also while there are candidates (Count.Among).
func AtLeast(n int, c Count) Bound { return Bound{"at least", n, unbounded, c} }

// Exactly claims that there are exactly n.
func Exactly(n int, c Count) Bound { return Bound{"exactly", n, n, c} }

// None claims that there are none. It is exercised while there are candidates (Count.Among):
// "no node is disrupted" means nothing without nodes.
func None(c Count) Bound { return Bound{none, 0, 0, c} }

const none = "no"

// Reached checks that at some moment there were as many as AtMost allows, or as few as AtLeast
// demands. That a budget of two is never exceeded proves little if there were never two.
func (b Bound) Reached() Check { return Sometimes(Exactly(b.number(), b.count)) }

func (b Bound) number() int {
	if b.max == unbounded {
		return b.min
	}
	return b.max
}

// String returns the bound in words.
func (b Bound) String() string {
	if b.how == none {
		return b.how + " " + b.count.Name
	}
	return b.how + " " + Words(b.number(), b.count.Name)
}

// Reads returns the resources that the count reads.
func (b Bound) Reads() []schema.GroupVersionResource { return b.count.Reads }

// Holds compares the number of counted objects with the bound.
func (b Bound) Holds(w *history.World) (ok, exercised bool) {
	n := len(b.count.Of(w))
	return b.min <= n && n <= b.max, b.isReached(w, n)
}

func (b Bound) isReached(w *history.World, n int) bool {
	switch {
	case b.min <= 0 && b.max == unbounded: // no world could break it
		return false
	case n > 0:
		return true
	default: // with none counted, candidates exercise only bounds of 0 and 1
		return (b.max == 0 || b.min == 1) && b.count.hasCandidates(w)
	}
}

// Standing lists the counted objects.
func (b Bound) Standing(w *history.World) string {
	objects := b.count.Of(w)
	return Words(len(objects), b.count.Name) + lines(objects)
}

// Each claims something of every counted object. It is exercised while there is one. words
// follow the name: "nodes of pool x" "have the label a=b".
func Each(c Count, words string, match Predicate) Claim {
	return every{c, words, remember(match)}
}

type every struct {
	count Count
	words string
	match func(*history.Object) bool
}

func (e every) String() string                       { return "all " + e.count.Name + " " + e.words }
func (e every) Reads() []schema.GroupVersionResource { return e.count.Reads }

func (e every) Holds(w *history.World) (ok, exercised bool) {
	objects := e.count.Of(w)
	return len(e.failing(objects)) == 0, len(objects) > 0
}

func (e every) Standing(w *history.World) string {
	objects := e.count.Of(w)
	failing := e.failing(objects)
	dont := "don't"
	if len(failing) == 1 {
		dont = "doesn't"
	}
	return fmt.Sprintf("%d of %s %s%s", len(failing), Words(len(objects), e.count.Name), dont, lines(failing))
}

func (e every) failing(objects []*history.Object) []*history.Object {
	var failing []*history.Object
	for _, o := range objects {
		if !e.match(o) {
			failing = append(failing, o)
		}
	}
	return failing
}
