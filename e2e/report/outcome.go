// Package report holds what people and CIs read of a run: the outcome of each spec, the lines
// on the terminal, the summary, conformance.yaml, and Ginkgo's reports in real time.
package report

import (
	"fmt"
	"strings"
	"time"
)

// Verdict is the result of a spec in one word. Only Passed, Known and Skipped leave a run green.
type Verdict string

// The verdicts.
const (
	Passed  Verdict = "passed"  // the promise was put to the test and kept
	Failed  Verdict = "failed"  // the promise was broken
	Known   Verdict = "known"   // broken, as an upstream issue says that this release does
	Vacuous Verdict = "vacuous" // never put to the test, so nothing is proven
	Skipped Verdict = "skipped" // not run; the reason says why
	Infra   Verdict = "infra"   // the harness could not judge: a component died or hangs, the watch has a gap
)

// Verdicts lists them in the order in which people are shown them.
func Verdicts() []Verdict { return []Verdict{Passed, Failed, Vacuous, Infra, Known, Skipped} }

// Red tells whether a verdict fails the run.
func (v Verdict) Red() bool { return v == Failed || v == Vacuous || v == Infra }

// Counts says in one line how many specs came to which verdict. It begins with the two numbers
// that a CI reads: how many passed, and how many failed the run, by whatever red verdict or
// since they were not reached.
func Counts(outcomes []Outcome, notReached int) string {
	counts := map[Verdict]int{}
	red := notReached
	for _, o := range outcomes {
		counts[o.Verdict]++
		if o.Verdict.Red() {
			red++
		}
	}
	var why, green []string
	for _, v := range Verdicts() {
		switch n := counts[v]; {
		case n == 0 || v == Passed || v == Failed:
		case v.Red():
			why = append(why, fmt.Sprintf("%d %s", n, v))
		default:
			green = append(green, fmt.Sprintf(", %d %s", n, v))
		}
	}
	if notReached > 0 {
		why = append(why, fmt.Sprintf("%d not reached", notReached))
	}
	among := ""
	if len(why) > 0 {
		among = fmt.Sprintf(" (%s among them)", strings.Join(why, ", "))
	}
	return fmt.Sprintf("%d passed, %d failed%s%s", counts[Passed], red, among, strings.Join(green, ""))
}

// Outcome is the result of one spec. Workers hand it to the process that
// started them as a line of JSON.
type Outcome struct {
	Provider string   `json:"provider"`
	ID       string   `json:"id"` // of the spec, such as drift/one-to-one
	Suite    string   `json:"suite"`
	Spec     string   `json:"spec"`
	Verdict  Verdict  `json:"verdict"`
	Reason   string   `json:"reason,omitempty"` // one line; always there unless passed
	Detail   string   `json:"detail,omitempty"` // the event, what stood then, the log; many lines
	Broke    []Broken `json:"broke,omitempty"`  // all that broke
	Issue    string   `json:"issue,omitempty"`  // known: the upstream issue
	Note     string   `json:"note,omitempty"`   // what else the reader must know, such as an unexpected pass
	Claims   []Judged `json:"claims,omitempty"` // the judgements on the spec's own checks
	// Invariants are the judgements on the checks that hold in every spec, in their order.
	Invariants []Judged `json:"invariants,omitempty"`
	// Errors are the errors in the controller's log that the adapter doesn't tolerate. They
	// are shown, and fail nothing.
	Errors  []LogError    `json:"errors,omitempty"`
	History string        `json:"history,omitempty"` // the recording, a file
	Rerun   string        `json:"rerun,omitempty"`   // the command that runs this spec alone
	Took    time.Duration `json:"took"`              // in nanoseconds of the cluster's time, clean-up included
	Real    time.Duration `json:"real,omitempty"`    // the same in real time, if that is not the cluster's
	Lag     time.Duration `json:"lag,omitempty"`     // how late the latest process was, in the cluster's time
	Started time.Time     `json:"started"`           // by the cluster's clock
	Worker  int           `json:"worker"`            // the process that ran it, from 1
}

// Broken is one of the things that broke in a spec. A known failure names those that may.
type Broken struct {
	Kind BrokenKind `json:"kind"`
	// What is broken, in words: the check, the invariant's name, "waited for 3 running
	// pods", "left behind: Node a", or else the reason.
	What string `json:"what"`
}

// BrokenKind is how something shows to be broken.
type BrokenKind string

// The kinds.
const (
	BrokenCheck     BrokenKind = "check"     // a check of the spec's own doesn't hold
	BrokenInvariant BrokenKind = "invariant" // one of those that hold in every spec doesn't
	BrokenWait      BrokenKind = "wait"      // what the spec waited for didn't come
	BrokenCleanUp   BrokenKind = "clean-up"  // something is left when the clean-up's time is over
	BrokenStep      BrokenKind = "step"      // the spec, or the controller, couldn't do what it must
)

// LogError is a kind of error in the controller's log.
type LogError struct {
	Message string `json:"message"` // the logger and its message, without fields
	Times   int    `json:"times"`
	Line    string `json:"line"` // the first one, cut where it is too wide to read
}

// Judged is the judgement on one check over a spec's recording.
type Judged struct {
	Check   string `json:"check"`   // in words; an invariant's name
	Verdict string `json:"verdict"` // holds, broken, vacuous or unknown
	Tested  int    `json:"tested"`  // how often it was put to the test
	// Breaks says why the spec breaks this invariant on purpose; empty if it doesn't.
	Breaks string `json:"breaks,omitempty"`
}

// Broke tells whether the check broke, and not on purpose.
func (j Judged) Broke() bool { return j.Verdict == "broken" && j.Breaks == "" }

// Tested sums up how often checks were put to the test.
func Tested(judged []Judged) (times int) {
	for _, j := range judged {
		times += j.Tested
	}
	return times
}

// Sentence is the spec's full name, such as "kwok: disruption budgets are
// never exceeded during drift".
func (o Outcome) Sentence() string { return Sentence(o.Provider, o.Suite, o.Spec) }

// title is what people read of the spec: its sentence, and its ID where they may want to name it.
func (o Outcome) title() string {
	if o.Verdict.Red() || o.Verdict == Known {
		return fmt.Sprintf("%s [%s]", o.Sentence(), o.ID)
	}
	return o.Sentence()
}

// Wall is how long the spec took in real time.
func (o Outcome) Wall() time.Duration {
	if o.Real > 0 {
		return o.Real
	}
	return o.Took
}

// speed is how fast the cluster's clock ran, on average.
func (o Outcome) speed() float64 { return o.Took.Seconds() / o.Wall().Seconds() }

// Sentence joins the names of a provider, a suite and a spec. FOCUS and SKIP match it, or
// the spec's ID.
func Sentence(provider, suite, spec string) string {
	return fmt.Sprintf("%s: %s %s", provider, suite, spec)
}
