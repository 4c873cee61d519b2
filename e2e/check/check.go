package check

import (
	"iter"
	"slices"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/plumbline-e2e/plumbline/e2e/history"
)

// Check is a claim over a history.
type Check interface {
	// String is the check in words.
	String() string
	// Judge says what the history proves.
	Judge(h *history.History) Finding
}

// Verdict is what a history says about a check. Only Holds is good news.
type Verdict int

const (
	// Unknown: the history has a gap, or ends too early, and what it shows
	// doesn't decide the check.
	Unknown Verdict = iota
	// Vacuous: the check was never put to the test.
	Vacuous
	// Broken: the history shows a breach.
	Broken
	// Holds: the check was put to the test, and held.
	Holds
)

// String is the verdict in one word.
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

// moments walks through a history: the world at the start with index -1, and
// the world after each event that touches one of the resources (after every
// event, if there are none) with the event's index. The world is moved on by
// the next step.
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
