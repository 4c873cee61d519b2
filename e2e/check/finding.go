package check

import (
	"fmt"
	"strings"
	"time"

	"github.com/plumbline-e2e/plumbline/e2e/history"
)

// Finding is what a check found in a history.
type Finding struct {
	Check   string  // the check in words
	Verdict Verdict // only Holds is good news
	// Event is the one that broke the check, At its index in History.Events;
	// nil and -1 if it was broken from the start, by the end, or not at all.
	Event  *history.Event
	At     int
	Number int           // of the event in the whole recording, as it was received
	Offset time.Duration // from the beginning of the whole recording to the event
	Change string        // what the event changed, in a few words
	// Want is what had to be true at that moment, one line; empty if that is the check
	// itself. Standing is what was true instead, one object per line.
	Want, Standing string
	Reason         string // why the verdict is what it is, one line
	// Tested is how often the check was put to the test, as far as it was judged, the
	// breach included: moments, steps or causes, by the kind of the check.
	Tested int
}

// String is the finding as people read it: the check, the event that broke it,
// and what stood then.
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

// broken is a breach at the event with this index, -1 for the start or the end, by a
// check that was put to the test so often before.
func (j judgement) broken(at, tested int, want, standing string) Finding {
	f := Finding{Check: j.check.String(), Verdict: Broken, At: at, Want: want, Standing: standing, Tested: tested + 1}
	if at < 0 {
		return f
	}
	events := j.h.Events()
	f.Event = &events[at]
	f.Number, f.Offset = j.h.Place(at)
	f.Change = whatChanged(j.before(at), *f.Event)
	return f
}

// never is the breach of a check that wanted a claim to be true at some moment.
func (j judgement) never(c Claim, tested int) Finding {
	return j.broken(-1, tested, c.String()+", at some moment", "never; in the end "+c.Standing(j.h.End()))
}

// unlessGap is the finding, if it stands although something may be missing up
// to the event it speaks of: what was not seen, or what came first, proves
// nothing then.
func (j judgement) unlessGap(f Finding) Finding {
	for _, g := range j.h.Gaps() {
		if f.Event == nil || !g.Time.After(f.Event.Time) {
			return j.unknown()
		}
	}
	return f
}

// unlessAnyGap is the finding, if nothing is missing anywhere.
func (j judgement) unlessAnyGap(f Finding) Finding {
	if len(j.h.Gaps()) > 0 {
		return j.unknown()
	}
	return f
}

// ended is the verdict on a check that was not broken.
func (j judgement) ended(tested int, missing string) Finding {
	f := Finding{Check: j.check.String(), Verdict: Holds, At: -1, Tested: tested}
	if tested == 0 {
		f.Verdict, f.Reason = Vacuous, "never put to the test: "+missing
	}
	return j.unlessAnyGap(f)
}

// count is how much one moment adds to Finding.Tested.
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

// before is the state that the event with this index replaced, nil if there
// was none.
func (j judgement) before(at int) *history.Object {
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
