package env

import (
	"context"
	"fmt"
	"runtime/debug"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/client-go/dynamic"

	"github.com/plumbline-e2e/plumbline/e2e/cluster"
	"github.com/plumbline-e2e/plumbline/e2e/history"
	"github.com/plumbline-e2e/plumbline/e2e/install"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
	"github.com/plumbline-e2e/plumbline/e2e/report"
	"github.com/plumbline-e2e/plumbline/providers"
)

// Place is where specs run: a cluster with a provider on it.
type Place struct {
	Cluster   cluster.Cluster
	Provider  *install.Installed
	Adapter   *providers.Adapter
	Namespace string // where specs create their workloads
	Client    dynamic.Interface
	Mapper    meta.RESTMapper
	Shared    bool // the cluster has other nodes, which specs' pods must not use

	// From is the provider's release, and To another one that specs may upgrade it to; nil: none.
	From, To *install.Prepared

	// Jump moves the cluster's clock ahead; nil where time can't be bent.
	Jump func(ctx context.Context, d time.Duration) error
	// Death returns which component died or hangs, with its last lines, or nil.
	Death func() error
	// WhileAlive returns a context that also ends when a component dies or hangs.
	WhileAlive func(parent context.Context) (context.Context, context.CancelFunc)
}

// Recording is what an Env needs of a history.Recorder.
type Recording interface {
	Await(ctx context.Context, pred func(*history.World) bool) error
	Interrupt(why string, kinds ...schema.GroupVersionResource) (over func(context.Context) error)
	ExpectClosing()
	Complete(ctx context.Context) (*history.History, error)
	History() *history.History
}

// New returns the Env of a spec. Foreground allows it to delete in the foreground.
func New(p *Place, r Recording, foreground bool) *Env {
	e := &Env{place: p, recorder: r, foreground: foreground, nodesBefore: sets.New[string]()}
	for _, node := range r.History().Start().List(karpenter.Nodes) {
		e.nodesBefore.Insert(node.Name)
	}
	return e
}

// Run runs a spec's function and returns its failure, or nil.
func Run(ctx context.Context, e *Env, spec func(context.Context, *Env)) (failure *Failure) {
	defer func() {
		switch r := recover().(type) {
		case nil:
		case Failure:
			failure = &r
		default:
			failure = Failed(fmt.Sprintf("the spec panicked: %v\n%s", r, debug.Stack()))
		}
	}()
	e.life = ctx
	defer e.MissedFaults() // no fault outlives the function
	spec(ctx, e)
	if missed := e.MissedFaults(); missed != "" {
		return &Failure{Verdict: report.Vacuous, Reason: "the fault never came about: " + missed, At: time.Now()}
	}
	if len(e.result.Claims) == 0 {
		return &Failure{Verdict: report.Vacuous, Reason: "the spec ended without expecting anything", At: time.Now()}
	}
	return nil
}

// Result holds what a spec adds to its outcome.
type Result struct {
	Claims []report.Judged // checks that were judged; a spec without any proves nothing
	Notes  []string        // other facts that readers of the outcome must know

	fields sets.Set[string] // of objects, that the spec has set
}

// ResultOf returns a spec's result so far.
func ResultOf(e *Env) *Result { return &e.result }

// Poisoned reports whether the controller remembers what a hook did, and needs a restart.
func Poisoned(e *Env) bool { return e.poison > 0 }

// Hooked reports whether the spec has called a hook, which may have broken the cloud.
func Hooked(e *Env) bool { return e.hooked }

// Replace makes a spec use another place and another recording, until restore is called.
func Replace(e *Env, other func(Place, Recording) (Place, Recording)) (restore func()) {
	before, recorder := e.place, e.recorder
	place, recording := other(*before, recorder)
	e.place, e.recorder = &place, recording
	return func() { e.place, e.recorder = before, recorder }
}
