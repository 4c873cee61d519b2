package e2e

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"github.com/plumbline-e2e/plumbline/e2e/env"
	"github.com/plumbline-e2e/plumbline/e2e/report"
	"github.com/plumbline-e2e/plumbline/e2e/session"
	"github.com/plumbline-e2e/plumbline/providers"
)

// runSpec runs a spec in the session that there is, unless it can't run there. The recording
// is saved in the folder histories. The second result tells whether the session is clean
// enough for another spec.
func (r *Registration) runSpec(ctx context.Context, suite *Suite, spec *Spec, histories string) (o report.Outcome, clean bool) {
	s := r.session
	o = report.Outcome{Provider: s.Adapter.Name, ID: spec.id, Suite: suite.Name, Spec: spec.Name, Started: time.Now()}
	if why := skipReason(s, spec); why != "" {
		o.Verdict, o.Reason = report.Skipped, why
		return o, true
	}
	known, err := knownFailure(spec, s.Adapter, s.Provider.CoreVersion)
	if err != nil {
		o.Verdict, o.Reason = report.Failed, err.Error()
		return o, true
	}
	w := session.Work{
		Outcome: o, Run: spec.Run, Within: withinOf(spec, s.Adapter), Foreground: spec.Foreground, Breaks: map[string]string{},
		Recording: filepath.Join(histories, strings.ReplaceAll(spec.id, "/", ".")+".jsonl"),
	}
	for _, b := range spec.Breaks {
		w.Breaks[b.Invariant] = b.Why
	}
	if r.config.Keep {
		w.Hold = func(ctx context.Context, failure *env.Failure) {
			if !known.excuses(failure.Broke) {
				r.hold(ctx, o.Sentence(), failure)
			}
		}
	}
	o, clean = s.Run(ctx, w)
	settle(&o, known)
	return o, clean
}

// skipReason says why a spec can't run in a session; "" if it can.
func skipReason(s *session.Session, spec *Spec) string {
	for _, need := range spec.Needs {
		if ok, why := s.Adapter.Supports(need); !ok {
			return why
		}
	}
	for _, hook := range spec.Hooks {
		if ok, why := s.Adapter.Has(hook); !ok {
			return why
		}
	}
	for _, need := range spec.Needs {
		since := Since{Karpenter: s.Adapter.Capabilities[need].Since}
		if why := since.absent(s.Provider.CoreVersion, ""); why != "" {
			return fmt.Sprintf("%s: %s", need, why)
		}
	}
	if spec.Leaps() && s.Clock == nil {
		return fmt.Sprintf("it takes up to %s, which is too long for a clock that can't be bent", spec.Within)
	}
	if spec.Gate != "" && !s.Adapter.Controller.Gates[spec.Gate] {
		return fmt.Sprintf("the feature gate %s is off in the adapter", spec.Gate)
	}
	return spec.Since.absent(s.Provider.CoreVersion, s.Provider.KubernetesVersion)
}

// withinOf bounds a spec: beside its own time it has that which the adapter gives the provider,
// to put up with what the spec needs, and for what hooks bring about to show.
func withinOf(spec *Spec, a *providers.Adapter) time.Duration {
	within := spec.within()
	for _, need := range spec.Needs {
		within += a.Capabilities[need].Toleration + a.Capabilities[need].Within
	}
	for _, hook := range spec.Hooks {
		within += a.Hooks[hook].Within
	}
	return within
}
