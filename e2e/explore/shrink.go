package explore

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/plumbline-e2e/plumbline/fixtures"
)

// Shrinking is a search for a shorter and plainer sequence that still breaks what another one does.
type Shrinking struct {
	// Breaks plays a sequence and reports whether it still breaks the same.
	Breaks func(Sequence) (bool, error)
	// Tries limits how many sequences are played.
	Tries int
	// Until, if set, is when the last of them may begin.
	Until time.Time
	// Kept, if set, is called for each sequence that is better than the one before.
	Kept func(s Sequence, tries int)

	best        Sequence
	tries, kept int
}

// Of returns the best sequence that was found, and how many were played. It leaves out actions, in halves, quarters and
// so on down to single ones (Zeller, Hildebrandt: Simplifying and Isolating Failure-Inducing Input, 2002), then the
// time that passes, then fields of objects and numbers. rapid's own shrinking knows only the random numbers that a
// sequence was drawn from, and needs many more tries, each of which takes seconds here.
func (h *Shrinking) Of(s Sequence) (best Sequence, tries int, err error) {
	h.best = s
	for {
		before := h.kept
		for _, pass := range []func() error{h.dropActions, h.dropTime, h.dropFields, h.dropNumbers} {
			if err := pass(); err != nil {
				return h.best, h.tries, err
			}
		}
		if h.kept == before || h.over() {
			return h.best, h.tries, nil
		}
	}
}

// over reports whether no more sequences may be played.
func (h *Shrinking) over() bool {
	return h.tries >= h.Tries || !h.Until.IsZero() && time.Now().After(h.Until)
}

// try plays a sequence and keeps it if it breaks the same.
func (h *Shrinking) try(s Sequence) error {
	if h.over() || len(s.Actions) == 0 {
		return nil
	}
	h.tries++
	s.Name = fmt.Sprintf("%s-try-%d", h.best.Name, h.tries)
	breaks, err := h.Breaks(s)
	if err != nil || !breaks {
		return err
	}
	s.Name = h.best.Name
	h.best = s
	h.kept++
	if h.Kept != nil {
		h.Kept(s, h.tries)
	}
	return nil
}

// dropActions leaves out as many actions as it can, the last ones first.
func (h *Shrinking) dropActions() error {
	for n := len(h.best.Actions) / 2; n >= 1; n /= 2 {
		for end := len(h.best.Actions); end > 0; end -= n {
			end = min(end, len(h.best.Actions))
			shorter := h.best
			shorter.Actions = slices.Delete(slices.Clone(h.best.Actions), max(0, end-n), end)
			if err := h.try(shorter); err != nil {
				return err
			}
		}
	}
	return nil
}

// dropTime lets no time pass after actions.
func (h *Shrinking) dropTime() error {
	for i := range h.best.Actions {
		if h.best.Actions[i].Then.Duration == 0 {
			continue
		}
		sooner := h.with(i, func(a *Action) { a.Then = metav1.Duration{} })
		if err := h.try(sooner); err != nil {
			return err
		}
	}
	return nil
}

// with returns the best sequence with another action.
func (h *Shrinking) with(i int, change func(*Action)) Sequence {
	other := h.best
	other.Actions = slices.Clone(h.best.Actions)
	change(&other.Actions[i])
	return other
}

// dropFields leaves out fields and entries of objects, whole parts before what is in them, and sets numbers to 1. What
// builders say by themselves, such as that nodes never expire, comes back instead. An object without what the API
// server demands is refused, and then the sequence doesn't break the same.
func (h *Shrinking) dropFields() error {
	for i := range h.best.Actions {
		if h.best.Actions[i].Do != Apply {
			continue
		}
		plain := plainest(h.best.Actions[i].object())
		for _, path := range optional(h.best.Actions[i].Object, nil) {
			plainer := runtime.DeepCopyJSON(h.best.Actions[i].Object)
			if !simplify(plainer, path, at(plain, path)) { // it went with a part, or is plain
				continue
			}
			if err := h.try(h.with(i, func(a *Action) { a.Object = plainer })); err != nil {
				return err
			}
		}
	}
	return nil
}

// dropNumbers lets actions be about the first node, a single call and the first request.
func (h *Shrinking) dropNumbers() error {
	for i := range h.best.Actions {
		for _, plain := range []func(*Action){
			func(a *Action) { a.Node = 0 },
			func(a *Action) { a.Count = min(1, a.Count) },
			func(a *Action) { a.Nth = 0 },
		} {
			plainer := h.with(i, plain)
			if reflect.DeepEqual(plainer.Actions[i], h.best.Actions[i]) {
				continue
			}
			if err := h.try(plainer); err != nil {
				return err
			}
		}
	}
	return nil
}

// plainest returns what a builder makes of an object's kind and name if nothing more is said; nil: there is none.
func plainest(o *unstructured.Unstructured) map[string]any {
	switch o.GetKind() {
	case "NodePool":
		return fixtures.NodePool().Unstructured().Object
	case "NodeClaim":
		return fixtures.NodeClaim().Unstructured().Object
	case "Deployment":
		return fixtures.Deployment(1).Called(o.GetName()).Unstructured().Object
	case "DaemonSet":
		return fixtures.DaemonSet().Called(o.GetName()).Unstructured().Object
	case "Pod":
		return fixtures.Pod().Called(o.GetName()).Unstructured().Object
	default:
		return nil
	}
}

// at returns what is at a path, or nil.
func at(in any, path []string) any {
	for _, step := range path {
		switch here := in.(type) {
		case map[string]any:
			in = here[step]
		case []any:
			i, err := strconv.Atoi(step)
			if err != nil || i >= len(here) {
				return nil
			}
			in = here[i]
		default:
			return nil
		}
	}
	return in
}

// needed are fields of objects that no pass leaves out: what identifies them, and what every one of them has.
var needed = []string{
	"apiVersion", "kind", "metadata", "name", "selector", "template", "containers", "image", "spec", "labels",
	"terminationGracePeriodSeconds", "nodeClassRef",
}

// optional returns the paths of fields and entries that an object may do without, parts before what is in them, and the
// last entries of lists first.
func optional(in any, path []string) (paths [][]string) {
	add := func(step string, value any) {
		here := append(slices.Clone(path), step)
		if !slices.Contains(needed, step) {
			paths = append(paths, here)
		}
		paths = append(paths, optional(value, here)...)
	}
	switch in := in.(type) {
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(in)) {
			add(key, in[key])
		}
	case []any:
		for i, value := range slices.Backward(in) {
			add(strconv.Itoa(i), value)
		}
	}
	return paths
}

// simplify sets a number at a path to 1 if it is more, and replaces anything else that is there by what is plain; nil:
// nothing. It reports whether that changed something.
func simplify(in any, path []string, plain any) bool {
	step, last := path[0], len(path) == 1
	switch in := in.(type) {
	case map[string]any:
		value, there := in[step]
		if list, ok := value.([]any); ok && len(path) == 2 { // an entry goes, and others take its place
			i, err := strconv.Atoi(path[1])
			switch {
			case err != nil || i >= len(list) || reflect.DeepEqual(list[i], plain):
				return false
			case plain != nil:
				list[i] = plain
			default:
				in[step] = slices.Delete(list, i, i+1)
			}
			return true
		}
		switch {
		case !there || !last:
			return there && simplify(value, path[1:], plain)
		case moreThanOne(value):
			in[step] = int64(1)
		case plain != nil:
			in[step] = plain
			return !reflect.DeepEqual(value, plain)
		default:
			delete(in, step)
		}
		return true
	case []any:
		i, err := strconv.Atoi(step)
		return err == nil && i < len(in) && !last && simplify(in[i], path[1:], plain)
	default:
		return false
	}
}

func moreThanOne(value any) bool {
	switch n := value.(type) {
	case int64:
		return n > 1
	case float64: // from YAML
		return n > 1
	default:
		return false
	}
}
