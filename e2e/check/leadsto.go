package check

import (
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/plumbline-e2e/plumbline/e2e/history"
)

// Response is a check that one thing follows another. Within adds a time limit.
type Response struct {
	words string
	cause func(*history.World) causes
	reads []schema.GroupVersionResource
	limit time.Duration // 0: none
}

// causes returns the claims that became due since the previous world.
type causes func(w *history.World) []Claim

// LeadsTo checks that each time cause becomes true, effect is true then or later. A cause that
// is true at the start becomes true there. It is vacuous unless the cause became true.
func LeadsTo(cause, effect Claim) Response {
	return Response{
		words: fmt.Sprintf("%s leads to %s", cause, effect),
		reads: readsOf(cause, effect),
		cause: func(*history.World) causes {
			before := false
			return func(w *history.World) []Claim {
				now, _ := cause.Holds(w)
				rose := now && !before
				before = now
				if rose {
					return []Claim{effect}
				}
				return nil
			}
		},
	}
}

// After checks that after each step a claim about the object is true, then or later. words say
// what the claims have in common. reads are the resources they look at besides the step's. It
// is vacuous unless the step happened.
func After(
	s Step, words string, must func(*unstructured.Unstructured) Claim, reads ...schema.GroupVersionResource,
) Response {
	return Response{
		words: fmt.Sprintf("after %s, %s", s, words),
		reads: readsBoth(s.count.Reads, reads),
		cause: func(start *history.World) causes {
			steps := s.newStepper(start)
			return func(w *history.World) []Claim {
				var due []Claim
				for _, o := range steps.next(w) {
					due = append(due, must(o.Unstructured()))
				}
				return due
			}
		},
	}
}

// Within adds a limit: the effect must be true at most d, in cluster time, after its cause. It
// is Unknown if the history ends before the limit and before the effect.
func Within(d time.Duration, r Response) Response {
	r.limit = d
	return r
}

// String returns the check in words.
func (r Response) String() string {
	if r.limit > 0 {
		return fmt.Sprintf("%s, within %s", r.words, r.limit)
	}
	return r.words
}

// debt is an effect that has not come yet.
type debt struct {
	effect Claim
	at     int
	since  time.Time
}

// Judge returns what the history proves.
func (r Response) Judge(h *history.History) Finding {
	j := judgement{r, h}
	var due causes
	var debts []debt
	tested := 0
	for at, w := range moments(h, r.reads) {
		if due == nil {
			due = r.cause(w)
		}
		for _, effect := range due(w) {
			tested++
			debts = append(debts, debt{effect, at, w.Time()})
		}
		var open []debt
		for _, d := range debts {
			late := r.limit > 0 && w.Time().Sub(d.since) > r.limit
			ok, _ := d.effect.Holds(w)
			switch {
			case late:
				return j.unlessAnyGap(r.overdueFinding(j, d, tested, w))
			case !ok:
				open = append(open, d)
			}
		}
		debts = open
	}
	if len(debts) > 0 {
		return j.unlessAnyGap(r.unansweredFinding(j, debts[0], tested))
	}
	return j.verdict(tested, "the cause never happened")
}

// overdueFinding returns the finding for an effect that missed its limit.
func (r Response) overdueFinding(j judgement, d debt, tested int, w *history.World) Finding {
	return j.broken(d.at, tested-1, fmt.Sprintf("%s, within %s of this event", d.effect, r.limit), d.effect.Standing(w))
}

// unansweredFinding returns the finding for an effect that did not come before the end.
func (r Response) unansweredFinding(j judgement, d debt, tested int) Finding {
	w := j.h.End()
	waited := j.h.Taken().Sub(d.since)
	if r.limit > 0 && waited > r.limit {
		return r.overdueFinding(j, d, tested, w)
	}
	waited = waited.Round(time.Millisecond)
	if r.limit > 0 {
		f := r.overdueFinding(j, d, tested, w)
		f.Verdict, f.Reason = Unknown, fmt.Sprintf("the recording ends %s after this event", waited)
		return f
	}
	want := fmt.Sprintf("%s, in the %s from this event to the end", d.effect, waited)
	return j.broken(d.at, tested-1, want, d.effect.Standing(w))
}
