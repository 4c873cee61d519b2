package e2e

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/Masterminds/semver/v3"
	"github.com/onsi/ginkgo/v2"

	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/e2e/report"
)

// errInterrupted is the cause of a context that ended because somebody
// stopped the run.
var errInterrupted = errors.New("the run was interrupted")

func interrupted(ctx context.Context) bool {
	return errors.Is(context.Cause(ctx), errInterrupted)
}

// ending is how a spec ended other than by passing. Env's methods panic with
// it, and the runner recovers it.
type ending struct {
	verdict report.Verdict
	reason  string          // one line
	detail  string          // the rest
	at      time.Time       // when it happened, to find the controller's words of that moment
	broke   []report.Broken // all that broke; there is something if the verdict is Failed
}

// broken is the ending of a spec in which something broke. The text's first line is the reason.
func broken(kind report.BrokenKind, what, text string, at time.Time) *ending {
	reason, detail, _ := strings.Cut(text, "\n")
	return &ending{
		verdict: report.Failed, reason: reason, detail: detail, at: at, broke: []report.Broken{{Kind: kind, What: what}},
	}
}

// failed is broken for something that couldn't be done: the reason says what.
func failed(text string) *ending {
	reason, _, _ := strings.Cut(text, "\n")
	return broken(report.BrokenStep, reason, text, time.Now())
}

// judged turns the findings of checks that don't hold into the spec's ending.
// The worst decides: a broken promise outweighs one that was never tested.
func judged(findings []check.Finding) ending {
	end := ending{verdict: report.Vacuous, at: time.Now()}
	var details []string
	for _, f := range findings {
		verdict, reason := verdictOf(f)
		if len(details) == 0 || verdict == report.Failed && end.verdict != report.Failed {
			end.verdict, end.reason = verdict, reason
			if f.Event != nil {
				end.at = f.Event.Time
			}
		}
		if verdict == report.Failed {
			end.broke = append(end.broke, report.Broken{Kind: report.BrokenCheck, What: f.Check})
		}
		details = append(details, f.String())
	}
	end.detail = strings.Join(details, "\n")
	return end
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

// absent says why a release does not make the promise yet; "" if it does.
func (s Since) absent(karpenter, kubernetes string) string {
	for _, c := range []struct{ what, since, have string }{
		{"Karpenter", s.Karpenter, karpenter},
		{"Kubernetes", s.Kubernetes, kubernetes},
	} {
		if c.since == "" {
			continue
		}
		since, err := semver.NewVersion(c.since)
		have, err2 := semver.NewVersion(c.have)
		if err == nil && err2 == nil && have.LessThan(since) {
			return fmt.Sprintf("promised since %s %s; this is %s", c.what, c.since, c.have)
		}
	}
	return ""
}

// constraints are the same in Ginkgo's form, by which its own filter selects.
func (s Since) constraints() ginkgo.ComponentSemVerConstraints {
	c := ginkgo.ComponentSemVerConstraints{}
	if s.Karpenter != "" {
		c["karpenter"] = []string{">=" + s.Karpenter}
	}
	if s.Kubernetes != "" {
		c["kubernetes"] = []string{">=" + s.Kubernetes}
	}
	return c
}
