package session

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"

	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/e2e/env"
	"github.com/plumbline-e2e/plumbline/e2e/history"
	"github.com/plumbline-e2e/plumbline/e2e/install"
	"github.com/plumbline-e2e/plumbline/e2e/invariant"
	"github.com/plumbline-e2e/plumbline/e2e/report"
	"github.com/plumbline-e2e/plumbline/providers"
)

const (
	// syncedWithin limits how long after a spec the controller's cluster state may be
	// incomplete. Karpenter checks it at least every 10 s.
	syncedWithin = 15 * time.Second
	syncedEvery  = 250 * time.Millisecond
	syncedMetric = "karpenter_cluster_state_synced"
)

// postChecks holds what the checks after a spec need.
type postChecks struct {
	session  *Session
	recorder *history.Recorder
	rights   *rights
	work     *Work
	outcome  *report.Outcome
	unsynced bool // the controller's picture of the cluster is incomplete, for later specs too
}

// run adds to a spec's failure, which may be nil, what shows only at the end: components that
// died or hang, refused rights, things left behind, broken invariants, gaps in the recording.
func (c *postChecks) run(ctx context.Context, failure *env.Failure, left []string) *env.Failure {
	s := c.session
	s.awaitAnswers(ctx)
	if infra := s.Err(); infra != nil {
		return env.Infra(infra.Error())
	}
	if env.Interrupted(ctx) {
		return failure
	}
	if lacking := c.rights.refusedMoreThan(ctx, 0); lacking != nil &&
		(failure == nil || !strings.Contains(failure.Reason, lacking.Error())) {
		failure = failure.Merge(env.Failed("the controller was refused what it asked for: " + lacking.Error()))
	}
	failure = leftBehind(failure, left)
	alive, stop := s.whileAlive(ctx)
	defer stop()
	if err := synced(alive, s.Provider.Metric, syncedWithin); err != nil {
		failure, c.unsynced = failure.Merge(env.Failed(err.Error())), true
	}
	unexpected := s.Provider.Unexpected(s.Provider.LogSince(ctx, c.outcome.Started))
	c.outcome.Errors = errorsIn(unexpected)
	failure = panicked(failure, unexpected)
	recorded, err := c.recorder.Complete(alive)
	if err != nil {
		return failure.Merge(env.Failed(fmt.Sprintf("recording: %v", err)))
	}
	_, core := s.From.Version() // what a later release promises too, the recording's first one may lack
	images, _ := s.Adapter.Supports(providers.Images)
	failure = c.judge(failure, recorded, invariant.Params{
		NodeClass: s.Adapter.NodeClassGVR(), Controller: s.Provider.Namespace,
		InstanceGC: s.Adapter.Capabilities[providers.InstanceGC].Within, Images: images, Core: core,
	})
	failure = c.doubt(failure, recorded)
	gaps := slices.DeleteFunc(slices.Clone(recorded.Gaps()), func(g history.Gap) bool { return g.Asked })
	if len(gaps) > 0 && failure == nil {
		why := fmt.Sprintf("the recording has %s, the first because %s", check.Words(len(gaps), "gaps"), gaps[0].Reason)
		return &env.Failure{Verdict: report.Infra, Reason: why, At: gaps[0].Time}
	}
	return failure
}

// judge applies the invariants to a spec's recording.
func (c *postChecks) judge(failure *env.Failure, recorded *history.History, params invariant.Params) *env.Failure {
	all := invariant.All()
	for i, f := range invariant.Judge(recorded, params) {
		j := report.Judged{
			Check: all[i].Name, Verdict: f.Verdict.String(), Tested: f.Tested, Breaks: c.work.Breaks[all[i].Name],
		}
		c.outcome.Invariants = append(c.outcome.Invariants, j)
		if !j.Broke() {
			continue
		}
		at := recorded.End().Time()
		if f.Event != nil {
			at = f.Event.Time
		}
		broken := env.Broken(report.BrokenInvariant, j.Check, fmt.Sprintf("an invariant is broken: %s\n%s", j.Check, f), at)
		broken.Broke[0].Event, broken.Broke[0].Why = env.EventOf(f), f.Reason
		failure = failure.Merge(broken)
	}
	return failure
}

// panicked fails a spec if one of the controllers has panicked. controller-runtime recovers
// panics: the process goes on, and the controller does nothing.
func panicked(failure *env.Failure, log []string) *env.Failure {
	i := slices.IndexFunc(log, func(line string) bool { return strings.Contains(line, "Observed a panic") })
	if i < 0 {
		return failure
	}
	return failure.Merge(env.Failed("a controller of the provider panicked, and the process went on\n" +
		install.Shorten(log[i])))
}

// leftBehind fails a spec if its clean-up left something.
func leftBehind(failure *env.Failure, left []string) *env.Failure {
	if len(left) == 0 {
		return failure
	}
	worse := env.Failed(fmt.Sprintf("the clean-up, which has %s, left behind:\n  %s", env.CleanUpWithin,
		strings.Join(left, "\n  ")))
	worse.Broke = nil
	for _, what := range left {
		worse.Broke = append(worse.Broke, report.Broken{Kind: report.BrokenCleanUp, What: "left behind: " + what})
	}
	return failure.Merge(worse)
}

// synced waits until the controller's metric says that its cluster state is complete. It does
// not wait if there is no such metric, or none within reach.
func synced(ctx context.Context, metric func(ctx context.Context, name string) (float64, error),
	within time.Duration,
) error {
	said := false
	err := wait.PollUntilContextTimeout(ctx, syncedEvery, within, true, func(ctx context.Context) (bool, error) {
		value, err := metric(ctx, syncedMetric)
		said = said || err == nil
		return err != nil && !said || err == nil && value == 1, nil
	})
	if err != nil && ctx.Err() == nil {
		return fmt.Errorf("the controller's metric %s was not 1 within %s of the spec's end: its picture of the cluster is "+
			"incomplete", syncedMetric, within)
	}
	return nil
}
