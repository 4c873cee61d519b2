package e2e

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/plumbline-e2e/plumbline/e2e/history"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
	"github.com/plumbline-e2e/plumbline/e2e/report"
)

// cleanUpWithin is the clean-up's own budget: a node needs some seconds to
// drain, and what isn't gone by then is stuck.
const cleanUpWithin = 60 * time.Second

// podsWithin is how long the clean-up waits for the pods of deleted workloads.
const podsWithin = 10 * time.Second

// batch is how long after the last pod Karpenter decides about nodes, and has them
// launched: the batch is open for a second more.
const batch = 3 * time.Second

// launchWithin is how long the clean-up waits for launches that are under way.
const launchWithin = 15 * time.Second

// skip says why a spec can't run in this session; "" if it can.
func (s *Session) skip(spec *Spec) string {
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

// Run runs one spec: it records, lets the spec do its work, cleans up, and
// judges. The recording is saved in the folder histories. The second result
// tells whether the session is clean enough for another spec.
func (s *Session) Run(ctx context.Context, suite *Suite, spec *Spec, histories string) (o report.Outcome, clean bool) {
	o = report.Outcome{
		Provider: s.Adapter.Name, ID: spec.id, Suite: suite.Name, Spec: spec.Name, Verdict: report.Passed, Started: time.Now(),
	}
	measured := s.measureReal(&o)
	defer func() { measured(); o.Took = time.Since(o.Started) }()
	if why := s.skip(spec); why != "" {
		o.Verdict, o.Reason = report.Skipped, why
		return o, true
	}
	known, err := s.known(spec)
	if err != nil {
		o.Verdict, o.Reason = report.Failed, err.Error()
		return o, true
	}
	file := filepath.Join(histories, strings.ReplaceAll(spec.id, "/", ".")+".jsonl")
	recorder, err := s.begin(ctx, spec, file)
	if err != nil {
		if death := s.Err(); death != nil { // that is why
			err = death
		}
		o.Verdict = report.Infra
		o.Reason, o.Detail, _ = strings.Cut(err.Error(), "\n")
		return o, false
	}
	env := newEnv(s, recorder)
	env.foreground = spec.Foreground
	rights := s.newRights(ctx)

	end := s.body(ctx, spec, env, rights)
	ended := time.Now()
	if end != nil && end.verdict.Red() && !known.excuses(end.broke) && s.hold != nil && s.Err() == nil {
		s.hold(ctx, o.Sentence(), end)
	}
	var left []string
	if !interrupted(ctx) && s.Err() == nil { // else the whole cluster goes
		left = env.cleanUp(ctx)
	}
	o.Claims, o.Note = env.claims, strings.Join(env.notes, "; ")
	end = s.afterwards(ctx, end, left, &aftermath{spec: spec, recorder: recorder, rights: rights, outcome: &o})
	log := ""
	if end != nil { // before a restart, which begins another log
		log = s.controllerLog(ctx, end.at, ended)
	}
	if env.poisoned && len(left) == 0 && s.Err() == nil && !interrupted(ctx) {
		if err := s.Provider.Restart(ctx); err != nil {
			left = []string{err.Error()}
			end = worsen(end, failed(err.Error()))
		}
	}
	o.History, err = save(recorder, file)
	if err != nil && end == nil {
		end = &ending{verdict: report.Infra, reason: fmt.Sprintf("the recording is incomplete: %v", err), at: time.Now()}
	}
	if end != nil {
		o.Verdict, o.Reason = end.verdict, end.reason
		if end.verdict == report.Failed {
			o.Broke = end.broke
		}
		o.Detail = strings.TrimSpace(end.detail + "\n" + log)
	}
	settle(&o, known)
	s.checkLag(&o)
	return o, len(left) == 0 && s.Err() == nil
}

// within bounds a spec: beside its own time it has that which the adapter gives the provider,
// to put up with what the spec needs, and for what hooks bring about to show.
func (s *Session) within(spec *Spec) time.Duration {
	within := spec.within()
	for _, need := range spec.Needs {
		within += s.Adapter.Capabilities[need].Toleration + s.Adapter.Capabilities[need].Within
	}
	for _, hook := range spec.Hooks {
		within += s.Adapter.Hooks[hook].Within
	}
	return within
}

// begin starts the recording of a spec when the cluster is as the spec needs it.
func (s *Session) begin(ctx context.Context, spec *Spec, file string) (*history.Recorder, error) {
	if spec.Foreground && !s.collects {
		ctx, release := s.whileAlive(ctx)
		defer release()
		if err := awaitCollector(ctx, s.client); err != nil {
			return nil, err
		}
		s.collects = true
	}
	recorder, err := s.record(file)
	if err != nil {
		return nil, fmt.Errorf("recording: %w", err)
	}
	return recorder, nil
}

// record starts the recording of a spec, which ends with the cluster at the
// latest.
func (s *Session) record(file string) (*history.Recorder, error) {
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		return nil, err
	}
	return history.Record(s.alive, s.Cluster.Config(), file, append(s.alpha(),
		karpenter.Nodes, karpenter.Pods, karpenter.PodDisruptionBudgets, karpenter.Events,
		karpenter.NodePools, karpenter.NodeClaims, s.Adapter.NodeClassGVR())...)
}

// alpha are the kinds that are not in every release, as far as they are served.
func (s *Session) alpha() []schema.GroupVersionResource {
	var served []schema.GroupVersionResource
	for _, kind := range []schema.GroupVersionResource{karpenter.NodeOverlays, karpenter.CapacityBuffers} {
		if _, err := s.mapper.KindFor(kind); err == nil {
			served = append(served, kind)
		}
	}
	return served
}

// body runs the spec's own function and returns how it ended; nil if it went
// through.
func (s *Session) body(ctx context.Context, spec *Spec, env *Env, rights *rights) (end *ending) {
	within := s.within(spec)
	ctx, cancel := context.WithTimeoutCause(ctx, within, fmt.Errorf("the spec's %s were over", within))
	defer cancel()
	ctx, release := s.whileAlive(ctx)
	defer release()
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	go rights.watch(ctx, stop)
	defer func() {
		switch r := recover().(type) {
		case nil:
		case ending:
			end = &r
		default:
			end = failed(fmt.Sprintf("the spec panicked: %v\n%s", r, debug.Stack()))
		}
	}()
	env.life = ctx
	spec.Run(ctx, env)
	if len(env.claims) == 0 {
		return &ending{verdict: report.Vacuous, reason: "the spec ended without expecting anything", at: time.Now()}
	}
	return nil
}

func save(recorder *history.Recorder, file string) (string, error) {
	err := recorder.Stop()
	saved, err2 := history.Compress(file)
	return saved, errors.Join(err, err2)
}
