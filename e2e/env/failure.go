package env

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/e2e/report"
)

// ErrInterrupted is the cause of a context that ended because the run was interrupted.
var ErrInterrupted = errors.New("the run was interrupted")

// Interrupted reports whether the run was interrupted.
func Interrupted(ctx context.Context) bool {
	return errors.Is(context.Cause(ctx), ErrInterrupted)
}

// Failure is the result of a spec that did not pass. Env's methods panic with it; Run recovers
// it.
type Failure struct {
	Verdict report.Verdict
	Reason  string          // one line
	Detail  string          // the rest
	At      time.Time       // when it happened, to find the controller's log lines
	Broke   []report.Broken // all that broke; not empty if the verdict is Failed
}

// Broken returns the failure of a spec in which something broke. The first line is the reason.
func Broken(kind report.BrokenKind, what, text string, at time.Time) *Failure {
	reason, detail, _ := strings.Cut(text, "\n")
	return &Failure{
		Verdict: report.Failed, Reason: reason, Detail: detail, At: at, Broke: []report.Broken{{Kind: kind, What: what}},
	}
}

// Failed returns the failure of a step that couldn't be done. The first line is the reason.
func Failed(text string) *Failure {
	reason, _, _ := strings.Cut(text, "\n")
	return Broken(report.BrokenStep, reason, text, time.Now())
}

// Infra returns a failure that isn't the provider's. The first line is the reason.
func Infra(text string) *Failure {
	reason, detail, _ := strings.Cut(text, "\n")
	return &Failure{Verdict: report.Infra, Reason: reason, Detail: detail, At: time.Now()}
}

// Merge adds a failure that was found later to f, which may be nil. The reason is that of the
// earliest one: a broken invariant often explains the error after it. A failure replaces the
// verdicts vacuous and skipped.
func (f *Failure) Merge(later *Failure) *Failure {
	switch {
	case f == nil:
		return later
	case f.Verdict == report.Vacuous || f.Verdict == report.Skipped || f.Verdict == report.Failed && later.At.Before(f.At):
		later.Detail = strings.Join([]string{later.Detail, f.Reason, f.Detail}, "\n")
		later.Broke = append(later.Broke, f.Broke...)
		return later
	}
	f.Detail = strings.TrimSpace(strings.Join([]string{f.Detail, later.Reason, later.Detail}, "\n"))
	f.Broke = append(f.Broke, later.Broke...)
	return f
}

// EventOf returns the number of the event that a finding is about, in the whole recording; nil if it is about none.
func EventOf(f check.Finding) *int {
	if f.Event == nil {
		return nil
	}
	return &f.Number
}

// failureOf turns the findings of checks that don't hold into a failure. The worst one
// decides: a broken promise counts more than an untested one.
func failureOf(findings []check.Finding) Failure {
	failure := Failure{Verdict: report.Vacuous, At: time.Now()}
	var details []string
	for _, f := range findings {
		verdict, reason := verdictOf(f)
		if len(details) == 0 || verdict == report.Failed && failure.Verdict != report.Failed {
			failure.Verdict, failure.Reason = verdict, reason
			if f.Event != nil {
				failure.At = f.Event.Time
			}
		}
		if verdict == report.Failed {
			failure.Broke = append(failure.Broke, report.Broken{Kind: report.BrokenCheck, What: f.Check, Event: EventOf(f)})
		}
		details = append(details, f.String())
	}
	failure.Detail = strings.Join(details, "\n")
	return failure
}

func verdictOf(f check.Finding) (report.Verdict, string) {
	switch f.Verdict {
	case check.Vacuous:
		return report.Vacuous, f.Check + ": was never put to the test"
	case check.Unknown:
		return report.Infra, f.Check + ": can't be judged: " + f.Reason
	default:
		return report.Failed, f.Check + ": broken"
	}
}
