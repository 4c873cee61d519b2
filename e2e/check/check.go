package check

import (
	"iter"
	"slices"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/plumbline-e2e/plumbline/e2e/history"
)

// Check is a claim about a whole history.
type Check interface {
	// String returns the check in words.
	String() string
	// Judge returns what the history proves.
	Judge(h *history.History) Finding
}

// Verdict is the result of a check. Only Holds is a pass.
type Verdict int

const (
	// Unknown means that the history has a gap or ends too early to decide the check.
	Unknown Verdict = iota
	// Vacuous means that the check was never put to the test.
	Vacuous
	// Broken means that the history shows a breach.
	Broken
	// Holds means that the check was put to the test, and held.
	Holds
)

// String returns the verdict in one word.
func (v Verdict) String() string {
	switch v {
	case Holds:
		return "holds"
	case Broken:
		return "broken"
	case Vacuous:
		return "vacuous"
	default:
		return "unknown"
	}
}

// moments yields the world at the start with index -1, then the world after each event of the
// resources in reads (all, if empty) with the event's index. The next step changes the world.
func moments(h *history.History, reads []schema.GroupVersionResource) iter.Seq2[int, *history.World] {
	return func(yield func(int, *history.World) bool) {
		w := h.Start()
		if !yield(-1, w) {
			return
		}
		for i, e := range h.Events() {
			w.Apply(e)
			if len(reads) > 0 && !slices.Contains(reads, e.Resource) {
				continue
			}
			if !yield(i, w) {
				return
			}
		}
	}
}
