package session

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/plumbline-e2e/plumbline/e2e/env"
	"github.com/plumbline-e2e/plumbline/e2e/faults"
	"github.com/plumbline-e2e/plumbline/e2e/history"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
	"github.com/plumbline-e2e/plumbline/e2e/report"
	"github.com/plumbline-e2e/plumbline/providers"
)

// Work is what a session needs to run a spec.
type Work struct {
	Outcome    report.Outcome // names the spec; Run adds the result
	Run        func(ctx context.Context, e *env.Env)
	Within     time.Duration     // limits Run, in cluster time
	Foreground bool              // Run deletes in the foreground
	Breaks     map[string]string // the invariants that Run breaks on purpose, and why
	Recording  string            // file
	Settles    time.Duration     // the cluster gets to come to rest before the clean-up, see env.Settle; 0: it needn't
	// Known, if set, reports whether all that broke is known of the release.
	Known func(broke []report.Broken) bool
	// Hold, if set, is called for a failure that isn't known, before the clean-up.
	Hold func(ctx context.Context, failure *env.Failure)
}

// knows reports whether a failure breaks only what is known of the release.
func (w *Work) knows(failure *env.Failure) bool { return w.Known != nil && w.Known(failure.Broke) }

// Run runs one spec: it records, runs the spec's function, cleans up, and judges. It also
// reports whether the session is clean enough for another spec.
func (s *Session) Run(ctx context.Context, w Work) (o report.Outcome, clean bool) {
	o = w.Outcome
	o.Verdict, o.Started = report.Passed, time.Now()
	measured := s.measureReal(&o)
	defer func() { measured(); o.Took = time.Since(o.Started) }()
	recorder, err := s.begin(ctx, w)
	if err != nil {
		if death := s.Err(); death != nil { // it explains the error
			err = death
		}
		o.Verdict = report.Infra
		o.Reason, o.Detail, _ = strings.Cut(err.Error(), "\n")
		return o, false
	}
	e := env.New(&s.Place, recorder, w.Foreground)
	checks := &postChecks{session: s, recorder: recorder, rights: s.newRights(ctx), work: &w, outcome: &o}

	before := s.writes(ctx)
	failure := s.runBody(ctx, w, e, checks.rights)
	o.Writes = since(before, s.writes(ctx))
	ended := time.Now()
	if failure == nil && w.Settles > 0 {
		alive, release := s.whileAlive(ctx)
		o.End = env.Settle(alive, e, w.Settles)
		release()
	}
	if failure != nil && failure.Verdict.Red() && w.Hold != nil && s.Err() == nil && !w.knows(failure) {
		w.Hold(ctx, failure)
	}
	notAsked := ""
	if failure == nil && s.Err() == nil {
		notAsked = s.askAboutWaiting(ctx, e, recorder)
	}
	var left []string
	if !env.Interrupted(ctx) && s.Err() == nil { // otherwise the whole cluster is ended
		left = env.CleanUp(ctx, e)
	}
	result := env.ResultOf(e)
	o.Claims, o.Fields = result.Claims, result.Fields()
	o.Note = strings.Trim(strings.Join(append(result.Notes, notAsked), "; "), "; ")
	failure = checks.run(ctx, failure, left)
	log := ""
	if failure != nil { // before a restart, which starts a new log
		log = s.controllerLog(ctx, failure.At, ended)
	}
	if env.Poisoned(e) && len(left) == 0 && s.Err() == nil && !env.Interrupted(ctx) {
		if err := s.Provider.Restart(ctx); err != nil {
			left = []string{err.Error()}
			failure = failure.Merge(env.Failed(err.Error()))
		}
	}
	o.History, err = save(recorder, w.Recording)
	if err != nil && failure == nil {
		failure = env.Infra(fmt.Sprintf("the recording is incomplete: %v", err))
	}
	if failure != nil {
		o.Verdict, o.Reason = failure.Verdict, failure.Reason
		if failure.Verdict == report.Failed {
			o.Broke = failure.Broke
		}
		o.Detail = strings.TrimSpace(failure.Detail + "\n" + log)
	}
	s.checkLag(&o)
	return o, len(left) == 0 && s.Err() == nil && !env.Upgraded(e) && !env.Skewed(e) && !checks.unsynced
}

// runBody runs the spec's function and returns its failure, or nil.
func (s *Session) runBody(ctx context.Context, w Work, e *env.Env, rights *rights) *env.Failure {
	ctx, cancel := context.WithTimeoutCause(ctx, w.Within, fmt.Errorf("the spec's time limit of %s is over", w.Within))
	defer cancel()
	ctx, release := s.whileAlive(ctx)
	defer release()
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	go rights.watch(ctx, stop)
	return env.Run(ctx, e, w.Run)
}

// writes returns how many writes of each kind the controller has made, to the API server and to the simulated cloud;
// nil where nobody counts them.
func (s *Session) writes(ctx context.Context) map[string]int {
	between := s.Provider.Interposer()
	if between == nil {
		return nil
	}
	writes, err := between.Writes(ctx)
	if err != nil {
		return nil // it is gone, which ends the session
	}
	calls, _ := s.Provider.Calls(ctx) // likewise
	for name, n := range calls {
		writes[faults.KindOfCall(name)] = n
	}
	return writes
}

// since returns by how much counters have grown.
func since(before, now map[string]int) map[string]int {
	grown := map[string]int{}
	for name, n := range now {
		if n > before[name] {
			grown[name] = n - before[name]
		}
	}
	return grown
}

// begin starts the recording of a spec once the cluster is as the spec needs it.
func (s *Session) begin(ctx context.Context, w Work) (*history.Recorder, error) {
	if w.Foreground && !s.collects {
		ctx, release := s.whileAlive(ctx)
		defer release()
		if err := awaitCollector(ctx, s.Client); err != nil {
			return nil, err
		}
		s.collects = true
	}
	recorder, err := s.record(w.Recording)
	if err != nil {
		return nil, fmt.Errorf("recording: %w", err)
	}
	if converts, _ := s.Adapter.Supports(providers.Conversion); converts && !s.recorded {
		// The controller has just put the CA of its conversion webhook into the CRDs.
		recorder.ExpectClosing()
	}
	s.recorded = true
	return recorder, nil
}

// record starts the recording of a spec. It ends with the cluster at the latest.
func (s *Session) record(file string) (*history.Recorder, error) {
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		return nil, err
	}
	return history.Record(s.alive, s.Cluster.Config(), file, append(s.served(
		karpenter.NodePools, karpenter.NodeOverlays, karpenter.CapacityBuffers),
		karpenter.Nodes, karpenter.Pods, karpenter.PodDisruptionBudgets, karpenter.Events,
		karpenter.NodeClaims, s.Adapter.NodeClassGVR())...)
}

// served returns those of some kinds that the cluster serves: not all releases and providers have them.
func (s *Session) served(kinds ...schema.GroupVersionResource) []schema.GroupVersionResource {
	return slices.DeleteFunc(kinds, func(kind schema.GroupVersionResource) bool {
		_, err := s.Mapper.KindFor(kind)
		return err != nil
	})
}

// save ends the recording and returns its file.
func save(recorder *history.Recorder, file string) (string, error) {
	err := recorder.Stop()
	saved, err2 := history.Compress(file)
	return saved, errors.Join(err, err2)
}
