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
	"github.com/plumbline-e2e/plumbline/providers"
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
	reason  string    // one line
	detail  string    // the rest
	at      time.Time // when it happened, to find the controller's words of that moment
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

// knownFailure returns the entry that covers a release, or nil. A release that
// is not a version (a branch build, say) is covered by none.
func (s *Spec) knownFailure(release string) (*Known, error) {
	for i, k := range s.Known {
		covered, err := providers.Covers(k.Releases, release)
		if err != nil {
			return nil, fmt.Errorf("spec %q, known failure %s: %w", s.Name, k.Issue, err)
		}
		if covered {
			return &s.Known[i], nil
		}
	}
	return nil, nil //nolint:nilnil // no entry
}

// known returns the failure that upstream knows of, be it Karpenter's own or the
// provider's, or nil.
func (s *Session) known(suite *Suite, spec *Spec) (*Known, error) {
	known, err := spec.knownFailure(s.Provider.CoreVersion)
	if known != nil || err != nil {
		return known, err
	}
	for _, k := range s.Adapter.KnownFailures {
		covered, err := providers.Covers(k.Releases, s.Provider.CoreVersion)
		if err != nil {
			return nil, fmt.Errorf("adapter, known failure %s: %w", k.Issue, err)
		}
		if covered && k.Spec == suite.sentence(spec) {
			return &Known{Releases: k.Releases, Issue: k.Issue, Reason: k.Reason}, nil
		}
	}
	return nil, nil //nolint:nilnil // no entry
}

// settle applies what is known of a release to an outcome.
func settle(o *report.Outcome, known *Known) {
	switch {
	case known == nil:
	case o.Verdict == report.Failed:
		o.Verdict, o.Issue = report.Known, known.Issue
		o.Reason = fmt.Sprintf("%s (%s)", known.Reason, known.Issue)
	case o.Verdict == report.Passed && !known.Sometimes:
		o.Note = strings.TrimSpace(fmt.Sprintf("%s passed although %s says that this release fails it: the entry may be out of date", o.Note, known.Issue))
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
