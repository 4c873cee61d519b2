package env

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"

	"github.com/plumbline-e2e/plumbline/e2e/cluster"
	"github.com/plumbline-e2e/plumbline/e2e/faults"
	"github.com/plumbline-e2e/plumbline/e2e/history"
	"github.com/plumbline-e2e/plumbline/e2e/install"
	"github.com/plumbline-e2e/plumbline/e2e/invariant"
)

// fault is a fault that the spec has begun.
type fault struct {
	*faults.Active

	mu     sync.Mutex
	killed []*history.Object // the controller's pods, as they were
	told   bool              // an Event says that the fault has struck
}

// Fault makes requests of the provider's controller fail, to the API server or to the simulated cloud, until the fault
// is over or the spec's function ends. An Event of the harness shows when it first strikes. A fault that never strikes
// makes the spec vacuous. The spec is skipped where the backend has no proxy, or the adapter's simulator has no faults.
func (e *Env) Fault(ctx context.Context, f faults.Fault) {
	var killer cluster.Killer
	if f.Kills() {
		killer = e.killer()
	}
	begun := &fault{}
	active, err := e.beginner(ctx, f)(ctx, f, func(ctx context.Context, r faults.Request) error {
		return e.strike(ctx, begun, killer, r)
	})
	if errors.Is(err, install.ErrNoFaults) {
		e.skip("%v", err)
	}
	if err != nil {
		e.fail(ctx, "%w", err)
	}
	begun.Active = active
	e.faults = append(e.faults, begun)
}

// beginner returns what begins a fault.
func (e *Env) beginner(ctx context.Context, f faults.Fault,
) func(context.Context, faults.Fault, faults.Strike) (*faults.Active, error) {
	if f.OfCloud() {
		e.hooked = true
		return faults.Cloud(e.place.Provider.Faults).Begin
	}
	interposed, can := e.place.Cluster.(cluster.Interposed)
	if !can {
		e.skip("the backend can't make requests of the controller fail")
	}
	if resource := f.Resource(); !resource.Empty() {
		if _, err := e.place.Mapper.KindFor(resource.WithVersion("")); err != nil {
			e.fail(ctx, "%s: the API server serves no %s, so that nothing can strike: %w", f, resource, err)
		}
	}
	return interposed.Faults().Begin
}

// AwaitFaults waits until all faults have struck, and until the controller is ready again after one that killed it.
func (e *Env) AwaitFaults(ctx context.Context) {
	for _, f := range e.faults {
		// By the recording, which gets an Event of each strike: specs that leave requests out cut waits short.
		err := e.recorder.Await(ctx, func(*history.World) bool { return f.Struck() > 0 })
		if err == nil && f.Struck() == 0 {
			return
		}
		if err == nil {
			err = f.Await(ctx)
		}
		if err != nil {
			e.fail(ctx, "%s: %w", f, err)
		}
		f.mu.Lock()
		killed := f.killed
		f.mu.Unlock()
		if err := e.awaitRestarts(ctx, killed); err != nil {
			e.fail(ctx, "%s: %w", f, err)
		}
	}
}

// EndFaults ends all faults: events that were held back go on, and requests get through.
func (e *Env) EndFaults() {
	for _, f := range e.faults {
		f.End()
	}
}

// strike writes an Event about a fault that strikes a request, and kills the controller if the fault does.
func (e *Env) strike(ctx context.Context, f *fault, killer cluster.Killer, r faults.Request) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if killer != nil {
		killed, err := e.kill(ctx, killer)
		f.killed = killed
		return err
	}
	if f.told {
		return nil
	}
	f.told = true
	about := &history.Object{Name: e.place.Namespace, Namespace: e.place.Namespace}
	_, err := e.report(ctx, "Namespace", about, invariant.ReasonFault, fmt.Sprintf("a fault of the spec strikes %s", r))
	return err
}

// missedFaults ends all faults and returns those that never struck, or not as they should, or "". It returns each once.
func (e *Env) missedFaults() string {
	e.EndFaults()
	defer func() { e.faults = nil }()
	var missed []string
	for _, f := range e.faults {
		if err := f.Err(); err != nil {
			missed = append(missed, fmt.Sprintf("%s: %v", f, err))
		} else if f.Struck() == 0 {
			missed = append(missed, f.String())
		}
	}
	return strings.Join(missed, "; ")
}
