// Package report holds what people and CIs read of a run: the outcome of each spec, the
// terminal output, the summary, conformance.yaml, and Ginkgo's reports in real time.
package report

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
)

// Verdict is the result of a spec. Only Passed, Known and Skipped leave a run green.
type Verdict string

// The verdicts.
const (
	Passed  Verdict = "passed"  // the promise was tested and kept
	Failed  Verdict = "failed"  // the promise was broken
	Known   Verdict = "known"   // broken, as an upstream issue or a finding says of this release
	Vacuous Verdict = "vacuous" // never tested, so nothing is proven
	Skipped Verdict = "skipped" // not run; the reason says why
	Infra   Verdict = "infra"   // the harness could not judge: a component died or hangs, the watch has a gap
)

// Verdicts returns all verdicts in display order.
func Verdicts() []Verdict { return []Verdict{Passed, Failed, Vacuous, Infra, Known, Skipped} }

// Red reports whether a verdict fails the run.
func (v Verdict) Red() bool { return v == Failed || v == Vacuous || v == Infra }

// Counts returns on one line how many specs have which verdict. It begins with the two numbers
// for CI: how many passed, and how many failed the run. The second counts all red verdicts and
// the specs that were not reached.
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

// Outcome is the result of one spec. Workers send it to the leading process as a line of JSON.
type Outcome struct {
	Provider string   `json:"provider"`
	ID       string   `json:"id"` // of the spec, such as drift/one-to-one
	Suite    string   `json:"suite"`
	Spec     string   `json:"spec"`
	Source   string   `json:"source,omitempty"` // where the spec is declared, as file:line
	Verdict  Verdict  `json:"verdict"`
	Reason   string   `json:"reason,omitempty"`  // one line; always there unless passed
	Detail   string   `json:"detail,omitempty"`  // the event, the state at that time, the log; many lines
	Broke    []Broken `json:"broke,omitempty"`   // all that broke
	Issue    string   `json:"issue,omitempty"`   // known: the address of the issue or finding
	Note     string   `json:"note,omitempty"`    // other important facts, such as an unexpected pass
	Retried  string   `json:"retried,omitempty"` // why it was infra the first time; empty: it ran once
	Claims   []Judged `json:"claims,omitempty"`  // the judgments on the spec's own checks
	// Invariants are the judgments on the invariants, in their order.
	Invariants []Judged `json:"invariants,omitempty"`
	// Errors are those in the controller's log that the adapter doesn't tolerate. They fail
	// nothing.
	Errors []LogError `json:"errors,omitempty"`
	// Fields are those of objects that the spec has set, such as "NodePool.spec.weight".
	Fields []string `json:"fields,omitempty"`
	// Writes says how many of each kind the controller made in the spec's function, such as "patch
	// nodeclaims.karpenter.sh/status" or "call ec2:CreateFleet"; see faults.Request.
	Writes map[string]int `json:"writes,omitempty"`
	// End says how the cluster was when it had come to rest after a spec with faults, such as "2 NodeClaims, initialized".
	End     []string      `json:"end,omitempty"`
	History string        `json:"history,omitempty"` // the recording, a file
	Rerun   string        `json:"rerun,omitempty"`   // the command that runs this spec alone
	Took    time.Duration `json:"took"`              // in nanoseconds of cluster time, including the clean-up
	Real    time.Duration `json:"real,omitempty"`    // the same in real time, if that differs from cluster time
	Lag     time.Duration `json:"lag,omitempty"`     // how late the latest process was, in cluster time
	Started time.Time     `json:"started"`           // by the cluster's clock
	Worker  int           `json:"worker"`            // the process that ran it, from 1
}

// Broken is one thing that broke in a spec. A known failure names those that may.
type Broken struct {
	Kind BrokenKind `json:"kind"`
	// What describes it: the check, the invariant's name, "waited for 3 running pods", "left
	// behind: Node a", or otherwise the reason.
	What string `json:"what"`
	// Why says of an invariant what doesn't hold, on one line.
	Why string `json:"why,omitempty"`
	// Event is the number of the event that broke it, in the recording; nil: none did.
	Event *int `json:"event,omitempty"`
}

// BrokenKind is the kind of a broken thing.
type BrokenKind string

// The kinds.
const (
	BrokenCheck     BrokenKind = "check"     // a check of the spec doesn't hold
	BrokenInvariant BrokenKind = "invariant" // an invariant doesn't hold
	BrokenWait      BrokenKind = "wait"      // the spec waited for something that didn't come
	BrokenCleanUp   BrokenKind = "clean-up"  // something is left when the clean-up's time is over
	BrokenStep      BrokenKind = "step"      // the spec or the controller couldn't do a required step
)

// LogError is a kind of error in the controller's log.
type LogError struct {
	Message string `json:"message"` // the logger and its message, without fields
	Times   int    `json:"times"`
	Line    string `json:"line"` // the first one, cut if it is too long
}

// LogErrors adds up each kind of error in the controller's log over specs, by its message. It keeps the first line.
func LogErrors(outcomes []Outcome) []LogError {
	kinds := map[string]LogError{}
	for _, o := range outcomes {
		for _, e := range o.Errors {
			if known, seen := kinds[e.Message]; seen {
				e.Line = known.Line
				e.Times += known.Times
			}
			kinds[e.Message] = e
		}
	}
	var all []LogError
	for _, message := range slices.Sorted(maps.Keys(kinds)) {
		all = append(all, kinds[message])
	}
	return all
}

// Judged is the judgment on one check over a spec's recording.
type Judged struct {
	Check   string `json:"check"`   // in words; an invariant's name
	Verdict string `json:"verdict"` // holds, broken, vacuous or unknown
	Tested  int    `json:"tested"`  // how often it was tested
	// Breaks is why the spec breaks this invariant on purpose. Empty: it doesn't.
	Breaks string `json:"breaks,omitempty"`
}

// Broke reports whether the check broke, and not on purpose.
func (j Judged) Broke() bool { return j.Verdict == "broken" && j.Breaks == "" }

// Tested returns how often checks were tested in total.
func Tested(judged []Judged) (times int) {
	for _, j := range judged {
		times += j.Tested
	}
	return times
}

// Sentence returns the spec's full name.
func (o Outcome) Sentence() string { return Sentence(o.Provider, o.Suite, o.Spec) }

// title returns the sentence, with the ID if people may want to name the spec.
func (o Outcome) title() string {
	if o.Verdict.Red() || o.Verdict == Known {
		return fmt.Sprintf("%s [%s]", o.Sentence(), o.ID)
	}
	return o.Sentence()
}

// Wall returns how long the spec took in real time.
func (o Outcome) Wall() time.Duration {
	if o.Real > 0 {
		return o.Real
	}
	return o.Took
}

// speed returns how fast the cluster's clock ran, on average.
func (o Outcome) speed() float64 { return o.Took.Seconds() / o.Wall().Seconds() }

// Sentence joins the names of a provider, a suite and a spec. FOCUS and SKIP match it, or the
// ID.
func Sentence(provider, suite, spec string) string {
	return fmt.Sprintf("%s: %s %s", provider, suite, spec)
}
