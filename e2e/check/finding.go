package check

import (
	"fmt"
	"strings"
	"time"

	"github.com/plumbline-e2e/plumbline/e2e/history"
)

// Finding is the result of a check over a history.
type Finding struct {
	Check   string  // the check in words
	Verdict Verdict // only Holds is good news
	// Event is the event that broke the check, At its index in History.Events. They are nil
	// and -1 if the start or the end broke it, or nothing did.
	Event  *history.Event
	At     int
	Number int           // the event's number in the whole recording
	Offset time.Duration // from the start of the whole recording to the event
	Change string        // what the event changed, in a few words
	// Want is what had to be true at that moment, on one line; empty if it is the check
	// itself. Standing is what was true instead, one object per line.
	Want, Standing string
	Reason         string // why this is the verdict, one line
	// Tested is how often the check was put to the test until the verdict, including the
	// breach. It counts moments, steps or causes, depending on the check.
	Tested int
}

// String returns the finding for people: the check, the event that broke it, and the state
// then.
func (f Finding) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %s", f.Verdict, f.Check)
	if f.Event != nil {
		fmt.Fprintf(&b, "\n  at +%s, event %d: %s %s",
			f.Offset.Round(time.Millisecond), f.Number, f.Event.Type, title(f.Event.Object))
		if f.Change != "" {
			fmt.Fprintf(&b, " (%s)", f.Change)
		}
	}
	reason, standing := f.Reason, f.Standing
	if f.Verdict == Broken && f.Want == "" { // the reason says what was seen
		reason, standing = "", strings.TrimSuffix(f.Reason+"\n"+f.Standing, "\n")
	}
	for _, part := range []struct{ head, text string }{{"", reason}, {"want: ", f.Want}, {"got: ", standing}} {
		if part.text != "" {
			fmt.Fprintf(&b, "\n  %s%s", part.head, strings.ReplaceAll(part.text, "\n", "\n    "))
		}
	}
	return b.String()
}

// judgement makes the findings of one check over one history.
type judgement struct {
	check Check
	h     *history.History
}

// broken returns a breach at the event with index at, which is -1 for the start or the end.
// tested is how often the check was put to the test before.
func (j judgement) broken(at, tested int, want, standing string) Finding {
	f := Finding{Check: j.check.String(), Verdict: Broken, At: at, Want: want, Standing: standing, Tested: tested + 1}
	if at < 0 {
		return f
	}
	events := j.h.Events()
	f.Event = &events[at]
	f.Number, f.Offset = j.h.Place(at)
	f.Change = Change(j.stateBefore(at), *f.Event)
	return f
}

// neverTrue returns the breach of a check whose claim was never true.
func (j judgement) neverTrue(c Claim, tested int) Finding {
	return j.broken(-1, tested, c.String()+", at some moment", "never; in the end "+c.Standing(j.h.End()))
}

// unlessGap returns the finding, or Unknown if the recording has a gap up to the finding's
// event. The finding depends on what came before, or on what did not come.
func (j judgement) unlessGap(f Finding) Finding {
	for _, g := range j.h.Gaps() {
		if f.Event == nil || !g.Time.After(f.Event.Time) {
			return j.unknown()
		}
	}
	return f
}

// unlessAnyGap returns the finding, or Unknown if the recording has any gap.
func (j judgement) unlessAnyGap(f Finding) Finding {
	if len(j.h.Gaps()) > 0 {
		return j.unknown()
	}
	return f
}

func (j judgement) verdict(tested int, missing string) Finding {
	f := Finding{Check: j.check.String(), Verdict: Holds, At: -1, Tested: tested}
	if tested == 0 {
		f.Verdict, f.Reason = Vacuous, "never put to the test: "+missing
	}
	return j.unlessAnyGap(f)
}

// count returns what one moment adds to Finding.Tested.
func count(exercised bool) int {
	if exercised {
		return 1
	}
	return 0
}

func (j judgement) unknown() Finding {
	gaps := j.h.Gaps()
	g := gaps[0]
	what := "something"
	if !g.Resource.Empty() {
		what = g.Resource.GroupResource().String()
	}
	reason := fmt.Sprintf("the recording has a gap at +%s, %s may be missing: %s",
		j.h.Offset(g.Time).Round(time.Millisecond), what, g.Reason)
	if more := len(gaps) - 1; more > 0 {
		reason += fmt.Sprintf(" (and %d more)", more)
	}
	return Finding{Check: j.check.String(), Verdict: Unknown, At: -1, Reason: reason}
}

// stateBefore returns the object before the event with this index, nil if there was none.
func (j judgement) stateBefore(at int) *history.Object {
	events := j.h.Events()
	e := events[at]
	for i := at - 1; i >= 0; i-- {
		p := events[i]
		if p.Resource == e.Resource && p.Object.Namespace == e.Object.Namespace && p.Object.Name == e.Object.Name {
			if p.Type == "DELETED" {
				return nil
			}
			return p.Object
		}
	}
	return j.h.Start().Get(e.Resource, e.Object.Namespace, e.Object.Name)
}
