package env

import (
	"context"
	"errors"
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"

	"github.com/plumbline-e2e/plumbline/e2e/cluster"
	"github.com/plumbline-e2e/plumbline/e2e/history"
	"github.com/plumbline-e2e/plumbline/e2e/invariant"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
)

// backWithin is how long an API server may take to come back, by itself.
const backWithin = 2 * time.Minute

// reportedEvery is how often the recording is asked for what the harness reports.
const reportedEvery = 50 * time.Millisecond

// StopAPIServer takes the API server away, as a crash does, brings it back after d
// and returns when all is recorded again. What happened from shortly before until
// then may be missing in the recording, and a gap says so: a spec can judge only
// what is recorded after, from a mark that it takes then. The invariants judge both
// parts. The spec is skipped where the backend can't.
//
// A controller that elects its leader ends itself when it can't renew its lease:
// such a spec breaks "the controller neither restarts nor panics" on purpose.
func (e *Env) StopAPIServer(ctx context.Context, d time.Duration) {
	stopper, can := e.place.Cluster.(cluster.Stopper)
	if !can {
		e.skip("the backend has no way to take the API server away")
	}
	why := fmt.Sprintf("the spec took the API server away for %s", d)
	over := e.recorder.Interrupt(why)
	if err := away(ctx, stopper, d); err != nil {
		e.fail(ctx, "taking the API server away: %w", err)
	}
	if err := over(ctx); err != nil {
		e.fail(ctx, "recording after the API server was away: %w", err)
	}
	// A mark that is taken from here on has this event before it, and so the gaps too.
	if err := e.announce(ctx, "Namespace", &history.Object{Name: e.place.Namespace, Namespace: e.place.Namespace}, invariant.ReasonInterrupted, why); err != nil {
		e.fail(ctx, "after the API server was away: %w", err)
	}
}

// away stops the API server for a while. It comes back also if ctx ends.
func away(ctx context.Context, stopper cluster.Stopper, d time.Duration) error {
	start, err := stopper.StopAPIServer(ctx)
	if err != nil {
		return err
	}
	pause := time.NewTimer(d)
	defer pause.Stop()
	select {
	case <-pause.C:
	case <-ctx.Done():
		err = context.Cause(ctx)
	}
	back, cancel := context.WithTimeout(context.WithoutCancel(ctx), backWithin)
	defer cancel()
	return errors.Join(err, start(back))
}

// announce writes an Event, by which the recording tells what a spec did to the
// cluster from what happened to it, and waits until it is recorded.
func (e *Env) announce(ctx context.Context, kind string, about *history.Object, reason, message string) error {
	name, err := e.report(ctx, kind, about, reason, message)
	if err != nil {
		return err
	}
	// Not by Await, which a spec of which something is left out cuts short: marks
	// must be right there, too.
	return wait.PollUntilContextCancel(ctx, reportedEvery, true, func(context.Context) (bool, error) {
		return e.World().Get(karpenter.Events, about.Namespace, name) != nil, nil
	})
}
