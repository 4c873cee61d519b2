package e2e

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"

	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/e2e/history"
	"github.com/plumbline-e2e/plumbline/e2e/invariant"
	"github.com/plumbline-e2e/plumbline/e2e/report"
)

const (
	// syncedWithin is how long the controller's picture of the cluster may lag
	// behind when a spec is over; Karpenter looks at it at least every ten seconds.
	syncedWithin = 15 * time.Second
	syncedEvery  = 250 * time.Millisecond
	syncedMetric = "karpenter_cluster_state_synced"
)

// aftermath is what is judged when a spec is over.
type aftermath struct {
	spec     *Spec
	recorder *history.Recorder
	rights   *rights
	outcome  *report.Outcome
}

// afterwards adds what shows only when a spec is over: components that died
// or hang, rights that were refused, things left behind, broken invariants, gaps in
// the recording.
func (s *Session) afterwards(ctx context.Context, end *ending, left []string, a *aftermath) *ending {
	s.awaitAnswers(ctx)
	if infra := s.Err(); infra != nil {
		reason, detail, _ := strings.Cut(infra.Error(), "\n")
		return &ending{verdict: report.Infra, reason: reason, detail: detail, at: time.Now()}
	}
	if interrupted(ctx) {
		return end
	}
	if lacking := a.rights.lacking(ctx, 0); lacking != nil && (end == nil || !strings.Contains(end.reason, lacking.Error())) {
		end = worsen(end, failed("the controller was refused what it asked for: "+lacking.Error()))
	}
	end = leftBehind(end, left)
	alive, stop := s.whileAlive(ctx)
	defer stop()
	if err := synced(alive, s.Provider.Metric, syncedWithin); err != nil {
		end = worsen(end, failed(err.Error()))
	}
	a.outcome.Errors = errorsIn(s.Provider.Unexpected(s.logSince(ctx, a.outcome.Started)))
	recorded, err := a.recorder.Complete(alive)
	if err != nil {
		return worsen(end, failed(fmt.Sprintf("recording: %v", err)))
	}
	end = a.judge(end, recorded, invariant.Params{NodeClass: s.Adapter.NodeClassGVR(), Controller: s.Provider.Namespace})
	if stray := strayEviction(recorded, s.Namespace); stray != "" && end != nil && (end.verdict == report.Failed || end.verdict == report.Vacuous) {
		end.verdict = report.Infra
		end.reason = fmt.Sprintf("Kubernetes evicted %s for a taint that was gone (kubernetes/kubernetes#119862); what came of it: %s", stray, end.reason)
	}
	gaps := slices.DeleteFunc(slices.Clone(recorded.Gaps()), func(g history.Gap) bool { return g.Asked })
	if len(gaps) > 0 && end == nil {
		why := fmt.Sprintf("the recording has %s, the first because %s", check.Words(len(gaps), "gaps"), gaps[0].Reason)
		return &ending{verdict: report.Infra, reason: why, at: gaps[0].Time}
	}
	return end
}

// judge applies the invariants, which hold in every spec, to its recording.
func (a *aftermath) judge(end *ending, recorded *history.History, params invariant.Params) *ending {
	all := invariant.All()
	for i, f := range invariant.Judge(recorded, params) {
		j := report.Judged{Check: all[i].Name, Verdict: f.Verdict.String(), Tested: f.Tested, Breaks: a.spec.breaks(all[i].Name)}
		a.outcome.Invariants = append(a.outcome.Invariants, j)
		if !j.Broke() {
			continue
		}
		at := recorded.End().Time()
		if f.Event != nil {
			at = f.Event.Time
		}
		end = worsen(end, broken(report.BrokenInvariant, j.Check, fmt.Sprintf("an invariant is broken: %s\n%s", j.Check, f), at))
	}
	return end
}

// breaks says why a spec breaks an invariant on purpose; "" if it doesn't.
func (s *Spec) breaks(invariant string) string {
	for _, b := range s.Breaks {
		if b.Invariant == invariant {
			return b.Why
		}
	}
	return ""
}

// leftBehind fails a spec whose clean-up left something.
func leftBehind(end *ending, left []string) *ending {
	if len(left) == 0 {
		return end
	}
	worse := failed(fmt.Sprintf("the clean-up, which has %s, left behind:\n  %s", cleanUpWithin, strings.Join(left, "\n  ")))
	worse.broke = nil
	for _, what := range left {
		worse.broke = append(worse.broke, report.Broken{Kind: report.BrokenCleanUp, What: "left behind: " + what})
	}
	return worsen(end, worse)
}

// worsen fails a spec for something that broke, and keeps what it had failed for already. The headline is
// what went wrong first: a broken invariant often explains the error that follows it. That nothing was proven
// matters no more then.
func worsen(end, worse *ending) *ending {
	switch {
	case end == nil:
		return worse
	case end.verdict == report.Vacuous || end.verdict == report.Skipped || end.verdict == report.Failed && worse.at.Before(end.at):
		worse.detail = strings.Join([]string{worse.detail, end.reason, end.detail}, "\n")
		worse.broke = append(worse.broke, end.broke...)
		return worse
	}
	end.detail = strings.TrimSpace(strings.Join([]string{end.detail, worse.reason, worse.detail}, "\n"))
	end.broke = append(end.broke, worse.broke...)
	return end
}

// synced waits until the controller says that its picture of the cluster is
// complete. A controller that has no such metric, or none within reach, is
// not asked.
func synced(ctx context.Context, metric func(ctx context.Context, name string) (float64, error), within time.Duration) error {
	said := false
	err := wait.PollUntilContextTimeout(ctx, syncedEvery, within, true, func(ctx context.Context) (bool, error) {
		value, err := metric(ctx, syncedMetric)
		said = said || err == nil
		return err != nil && !said || err == nil && value == 1, nil
	})
	if err != nil && ctx.Err() == nil {
		return fmt.Errorf("the controller's metric %s was not 1 within %s of the spec's end: its picture of the cluster is incomplete", syncedMetric, within)
	}
	return nil
}
