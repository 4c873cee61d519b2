package env

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/e2e/faults"
	"github.com/plumbline-e2e/plumbline/e2e/history"
	"github.com/plumbline-e2e/plumbline/e2e/install"
	"github.com/plumbline-e2e/plumbline/e2e/invariant"
)

// fault is a fault that the spec has begun.
type fault struct {
	*faults.Active

	why string // the controller ends
	by  ending // nil: it doesn't

	mu    sync.Mutex
	ended []*history.Object // the controller's pods that the fault ends, as they were
	told  bool              // an Event says that the fault has struck
}

// Fault makes requests of the provider's controller fail, to the API server or to the simulated cloud, until the fault
// is over or the spec's function ends. An Event of the harness shows when it first strikes. A fault that never strikes
// makes the spec vacuous. The spec is skipped where the backend has no proxy, or the adapter's simulator has no faults.
func (e *Env) Fault(ctx context.Context, f faults.Fault) {
	begun := &fault{}
	switch {
	case f.Kills():
		begun.why, begun.by = killed, e.killer().Kill
	case f.Deposes():
		e.requireLeader(ctx)
		begun.why = "its lease can't be renewed, so that it has to end itself"
		begun.by = func(context.Context, string, string) error { return nil }
	}
	active, err := e.beginner(ctx, f)(ctx, f, func(ctx context.Context, r faults.Request) error {
		return e.strike(ctx, begun, r)
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
	between := e.place.Provider.Interposer()
	if between == nil {
		e.skip("requests of the controller can't be made to fail: the cluster can't run the proxy, which needs REGISTRY")
	}
	if resource := f.Resource(); !resource.Empty() {
		if _, err := e.place.Mapper.KindFor(resource.WithVersion("")); err != nil {
			e.fail(ctx, "%s: the API server serves no %s, so that nothing can strike: %w", f, resource, err)
		}
	}
	return between.Begin
}

// requireLeader skips the spec if no controller holds a lease. The lease's name contains "karpenter", as in every known
// provider.
func (e *Env) requireLeader(ctx context.Context) {
	leases, err := e.place.Client.Resource(leases).Namespace(e.place.Provider.Namespace).List(ctx, metav1.ListOptions{})
	if err != nil {
		e.fail(ctx, "looking for the controller's lease: %w", err)
	}
	if !slices.ContainsFunc(leases.Items, func(lease unstructured.Unstructured) bool {
		holder, _, _ := unstructured.NestedString(lease.Object, "spec", "holderIdentity")
		return holder != "" && strings.Contains(lease.GetName(), "karpenter")
	}) {
		e.skip("the controller elects no leader, so that no lease can be lost")
	}
}

// leases are what leaders are elected by.
var leases = coordinationv1.SchemeGroupVersion.WithResource("leases") //nolint:gochecknoglobals // a constant

// AwaitFaults waits until all faults have struck, and until the controller is ready again after one that ended it.
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
		ended := f.ended
		f.mu.Unlock()
		if err := e.awaitRestarts(ctx, ended); err != nil {
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

// strike writes an Event about a fault that strikes its first request, and ends the controller if the fault does.
func (e *Env) strike(ctx context.Context, f *fault, r faults.Request) (err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.told {
		return nil
	}
	f.told = true
	if f.by != nil {
		f.ended, err = e.end(ctx, f.why, f.by)
		return err
	}
	about := &history.Object{Name: e.place.Namespace, Namespace: e.place.Namespace}
	_, err = e.report(ctx, "Namespace", about, invariant.ReasonFault, fmt.Sprintf("a fault of the spec strikes %s", r))
	return err
}

// ExpectUndisturbed judges checks, as Expect does, unless the spec has faults. It is for promises that hold only if
// the controller is not killed in between, as that two nodes are disrupted in one step.
func (e *Env) ExpectUndisturbed(h *history.History, checks ...check.Check) {
	if len(e.faults) == 0 {
		e.Expect(h, checks...)
		return
	}
	e.result.Notes = append(e.result.Notes,
		fmt.Sprintf("%d checks were left out, which hold only without faults", len(checks)))
}

// MissedFaults ends all faults and returns those that never struck, or not as they should, or "". It returns each once,
// so that those that it has returned don't make the spec vacuous.
func (e *Env) MissedFaults() string {
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
