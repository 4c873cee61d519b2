package env

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"

	"github.com/plumbline-e2e/plumbline/e2e/cluster"
	"github.com/plumbline-e2e/plumbline/e2e/history"
	"github.com/plumbline-e2e/plumbline/e2e/invariant"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
)

// backWithin limits how long an API server may take to come back.
const backWithin = 2 * time.Minute

// reportedEvery is how often the recording is polled for the harness's own Events.
const reportedEvery = 50 * time.Millisecond

// StopAPIServer stops the API server as a crash does and starts it again after d. It returns
// when the recording is up to date again. The recording may miss events from shortly before
// the stop until then, and has a gap there. A spec can judge only what comes later, from a
// mark that it takes then. The invariants judge both parts. The spec is skipped where the
// backend can't stop the server.
//
// A controller with leader election exits when it can't renew its lease. Such a spec breaks
// "the controller neither restarts nor panics" on purpose.
func (e *Env) StopAPIServer(ctx context.Context, d time.Duration) {
	stopper, can := e.place.Cluster.(cluster.Stopper)
	if !can {
		e.skip("the backend has no way to take the API server away")
	}
	why := fmt.Sprintf("the spec took the API server away for %s", d)
	over := e.recorder.Interrupt(why)
	if err := stopAPIServer(ctx, stopper, d); err != nil {
		e.fail(ctx, "taking the API server away: %w", err)
	}
	if err := over(ctx); err != nil {
		e.fail(ctx, "recording after the API server was away: %w", err)
	}
	// Later marks come after this event, and so after the gaps.
	if err := e.announce(ctx, invariant.ReasonInterrupted, why); err != nil {
		e.fail(ctx, "after the API server was away: %w", err)
	}
}

// stopAPIServer stops the API server for d. It starts it again even if ctx ends.
func stopAPIServer(ctx context.Context, stopper cluster.Stopper, d time.Duration) error {
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

// announce writes an Event about the spec's namespace, and waits until it is recorded. The Event
// shows that the spec itself did something to the cluster.
func (e *Env) announce(ctx context.Context, reason, message string) error {
	about := &history.Object{Name: e.place.Namespace, Namespace: e.place.Namespace}
	return e.announceAbout(ctx, "Namespace", about, reason, message)
}

// announceAbout writes an Event about an object, and waits until it is recorded: or else what
// comes of it might be recorded before it. It doesn't use Await: specs that leave requests out
// cut that short, and their marks must be right too. The clean-up calls it too, when the spec's
// life is over.
func (e *Env) announceAbout(ctx context.Context, kind string, about *history.Object, reason, message string) error {
	name, err := e.report(ctx, kind, about, reason, message)
	if err != nil {
		return err
	}
	namespace := cmp.Or(about.Namespace, metav1.NamespaceDefault)
	return wait.PollUntilContextCancel(ctx, reportedEvery, true, func(ctx context.Context) (bool, error) {
		h, err := e.recorder.Complete(ctx)
		return err == nil && h.End().Get(karpenter.Events, namespace, name) != nil, err
	})
}
