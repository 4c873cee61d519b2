package e2e

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/plumbline-e2e/plumbline/e2e/cluster"
	"github.com/plumbline-e2e/plumbline/e2e/env"
	"github.com/plumbline-e2e/plumbline/e2e/report"
	"github.com/plumbline-e2e/plumbline/e2e/session"
	"github.com/plumbline-e2e/plumbline/providers"
)

// runSpec runs a spec in the current session, if it can run there, and saves the recording in
// the folder histories. It also reports whether the session is clean enough for another spec.
func (r *Registration) runSpec(ctx context.Context, suite *Suite, spec *Spec, histories string) (o report.Outcome,
	clean bool,
) {
	s := r.session
	o = report.Outcome{
		Provider: s.Adapter.Name, ID: spec.id, Suite: suite.Name, Spec: spec.Name, Source: spec.source, Started: time.Now(),
	}
	if why := skipReason(placeOf(s, r.config.backend), spec); why != "" {
		o.Verdict, o.Reason = report.Skipped, why
		return o, true
	}
	known, err := knownFailure(spec, s.Adapter, s.Provider.CoreVersion)
	if err != nil {
		o.Verdict, o.Reason = report.Failed, err.Error()
		return o, true
	}
	w := session.Work{
		Outcome: o, Run: spec.Run, Within: withinOf(spec, s.Adapter), Foreground: spec.Foreground,
		Breaks: map[string]string{}, Settles: spec.settles, Known: known.excuses,
		Recording: filepath.Join(histories, strings.ReplaceAll(spec.id, "/", ".")+".jsonl"),
	}
	for _, b := range spec.Breaks {
		w.Breaks[b.Invariant] = b.Why
	}
	if r.config.Keep {
		w.Hold = func(ctx context.Context, failure *env.Failure) { r.hold(ctx, o.Sentence(), failure) }
	}
	o, clean = s.Run(ctx, w)
	settle(&o, known)
	return o, clean
}

// place is what decides whether a spec can run.
type place struct {
	adapter          *providers.Adapter
	core, kubernetes string // releases
	bent             bool   // the clock can be bent
	upgrades         bool   // there is a release to upgrade to
	services         bool   // the API server reaches Services
}

// placeOf returns the place that a session on a backend is.
func placeOf(s *session.Session, on cluster.Backend) place {
	return place{
		s.Adapter, s.Provider.CoreVersion, s.Provider.KubernetesVersion, s.Clock != nil, s.To != nil, on.Services,
	}
}

// skipReason returns why a spec can't run in a place, or "".
func skipReason(on place, spec *Spec) string {
	if spec.Upgrades && !on.upgrades {
		return "it upgrades the provider, and no release to upgrade to is given (TO)"
	}
	for _, need := range spec.Needs {
		if ok, why := on.adapter.Supports(need); !ok {
			return why
		}
	}
	for _, hook := range spec.Hooks {
		if ok, why := on.adapter.Has(hook); !ok {
			return why
		}
	}
	for _, need := range spec.Needs {
		support := on.adapter.Capabilities[need]
		since := Since{Karpenter: support.Since}
		if why := since.missingIn(on.core, ""); why != "" {
			return fmt.Sprintf("%s: %s", need, why)
		}
		if why := goneIn(support.Until, on.core); why != "" {
			return fmt.Sprintf("%s: %s", need, why)
		}
	}
	if slices.Contains(spec.Needs, providers.Conversion) && !on.services {
		return "the API server doesn't reach the Services of a cluster on this machine, and so no webhook"
	}
	if spec.Leaps() && !on.bent {
		return fmt.Sprintf("it takes up to %s, which is too long for a clock that can't be bent", spec.Within)
	}
	if spec.Gate != "" && !on.adapter.Controller.Gates[spec.Gate] {
		return fmt.Sprintf("the feature gate %s is off in the adapter", spec.Gate)
	}
	return spec.Since.missingIn(on.core, on.kubernetes)
}

// withinOf returns a spec's time limit: its own, plus the adapter's times for what the spec
// needs, for the effects of its hooks, and until the provider has forgotten the failures that they
// cause. The controller is restarted if that takes too long (see env.Patience).
func withinOf(spec *Spec, a *providers.Adapter) time.Duration {
	within := spec.timeLimit()
	for _, need := range spec.Needs {
		within += a.Capabilities[need].Toleration + a.Capabilities[need].Within
	}
	for _, hook := range spec.Hooks {
		within += a.Hooks[hook].Within
		if poison := a.Hooks[hook].Poison; poison <= env.Patience {
			within += poison
		}
	}
	return within
}
