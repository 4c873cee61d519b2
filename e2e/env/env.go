package env

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/client-go/dynamic"

	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/e2e/history"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
	"github.com/plumbline-e2e/plumbline/e2e/report"
	"github.com/plumbline-e2e/plumbline/fixtures"
)

// fieldManager owns the fields that specs apply.
const fieldManager = "plumbline"

// Env is what a spec works with: one cluster, one provider, one recording.
// Its methods fail the spec themselves; they return only on success.
type Env struct {
	place    *Place
	recorder Recording
	life     context.Context //nolint:containedctx // it is the spec's, by which the recording is asked
	created  []reference     // in the order of their creation
	hooked   bool            // something was done to the provider's cloud
	result   Result

	foreground bool // the spec said so

	nodesBefore sets.Set[string] // nodes that were there before the spec

	resumeKubelets func() error // set while they are paused
}

// reference names an object in the cluster.
type reference struct {
	kind            schema.GroupVersionResource
	namespace, name string
}

func (r reference) String() string {
	return fmt.Sprintf("%s/%s", r.kind.Resource, r.name)
}

// Create applies objects, server-side and with strict field validation.
// NodePools and NodeClaims are completed from the provider's templates. Of a
// NodePool it waits for the word whether it is ready: for a pod that comes
// earlier Karpenter has no pool, and tries again much later.
func (e *Env) Create(ctx context.Context, objects ...fixtures.Object) {
	for _, object := range objects {
		o := e.complete(ctx, object.Unstructured())
		ref, applied := e.apply(ctx, o)
		e.created = append(e.created, ref)
		if ref.kind == karpenter.NodePools {
			e.awaitReadiness(ctx, ref, applied.GetGeneration())
		}
	}
}

// awaitReadiness waits until a NodePool, as it is now, is said to be ready or not
// to be.
func (e *Env) awaitReadiness(ctx context.Context, pool reference, generation int64) {
	err := e.recorder.Await(ctx, func(w *history.World) bool {
		o := w.Get(pool.kind, pool.namespace, pool.name)
		return o != nil && saysReadiness(o.Unstructured(), generation)
	})
	if err != nil {
		e.fail(ctx, "waiting for the condition Ready of %s: %w", pool, err)
	}
}

// Launch creates a NodePool and a workload, and waits until n pods run, on as many nodes that
// are initialized. It returns the nodes.
func (e *Env) Launch(ctx context.Context, n int, pool, app fixtures.Object) []*history.Object {
	e.Create(ctx, pool, app)
	e.Await(ctx, n, check.RunningPods(app))
	e.Await(ctx, n, check.InitializedNodeClaims(pool))
	return e.Await(ctx, n, check.InitializedNodes(pool))
}

// Change applies objects again after their builders were changed. For a NodePool
// it waits as Create does: until it is said to be ready as it is now, Karpenter
// has no pool.
func (e *Env) Change(ctx context.Context, objects ...fixtures.Object) {
	for _, object := range objects {
		ref, applied := e.apply(ctx, e.complete(ctx, object.Unstructured()))
		if ref.kind == karpenter.NodePools {
			e.awaitReadiness(ctx, ref, applied.GetGeneration())
		}
	}
}

// Delete deletes objects, without waiting for their finalizers.
func (e *Env) Delete(ctx context.Context, objects ...fixtures.Object) {
	e.delete(ctx, metav1.DeletePropagationBackground, objects)
}

// DeleteInForeground deletes objects as `kubectl delete --cascade=foreground`
// does: each stays, being deleted, until all that it owns is gone. It doesn't
// wait for that. The spec must say that it does so: Spec.Foreground.
func (e *Env) DeleteInForeground(ctx context.Context, objects ...fixtures.Object) {
	if !e.foreground {
		e.fail(ctx, "deleting in the foreground: the spec doesn't say Foreground")
	}
	e.delete(ctx, metav1.DeletePropagationForeground, objects)
}

func (e *Env) delete(ctx context.Context, policy metav1.DeletionPropagation, objects []fixtures.Object) {
	for _, object := range objects {
		o := object.Unstructured()
		ref, err := e.refer(o)
		if err == nil {
			err = e.at(ref).Delete(ctx, ref.name, metav1.DeleteOptions{PropagationPolicy: &policy})
		}
		if err != nil {
			e.fail(ctx, "deleting %s %s: %v", o.GetKind(), o.GetName(), err)
		}
	}
}

// Await waits until exactly n objects are counted and returns them. It looks
// at the recording, so that no moment is missed.
func (e *Env) Await(ctx context.Context, n int, count check.Count) []*history.Object {
	return e.await(ctx, check.Words(n, count.Name), count, func(got int) bool { return got == n })
}

// AwaitAtLeast waits until n objects or more are counted and returns them.
func (e *Env) AwaitAtLeast(ctx context.Context, n int, count check.Count) []*history.Object {
	return e.await(ctx, "at least "+check.Words(n, count.Name), count, func(got int) bool { return got >= n })
}

func (e *Env) await(ctx context.Context, wanted string, count check.Count, enough func(int) bool) []*history.Object {
	var objects []*history.Object
	began := time.Now()
	err := e.recorder.Await(ctx, func(w *history.World) bool {
		objects = count.Of(w)
		return enough(len(objects))
	})
	if err != nil {
		e.failWith(ctx, report.BrokenWait, "waited for "+wanted, fmt.Errorf("waited %s for %s, there %s: %w%s",
			time.Since(began).Round(100*time.Millisecond), wanted, be(len(objects)), err, list(objects)+e.situation(ctx)))
	}
	return objects
}

// recorded is the recording up to now, complete.
func (e *Env) recorded() *history.History {
	h, err := e.recorder.Complete(e.life)
	if err != nil {
		e.fail(e.life, "recording: %w", err)
	}
	return h
}

// Expect judges checks over a recording. The spec fails unless all hold; a
// check that was never put to the test makes it vacuous.
func (e *Env) Expect(h *history.History, checks ...check.Check) {
	var findings []check.Finding
	for _, c := range checks {
		f := c.Judge(h)
		e.result.Claims = append(e.result.Claims, report.Judged{Check: f.Check, Verdict: f.Verdict.String(), Tested: f.Tested})
		if f.Verdict != check.Holds {
			findings = append(findings, f)
		}
	}
	if len(findings) > 0 {
		panic(judged(findings))
	}
}

// Fail fails the spec with a sentence about the promise.
func (e *Env) Fail(format string, args ...any) {
	what := fmt.Sprintf(format, args...)
	panic(*Broken(report.BrokenCheck, what, what, time.Now()))
}

// fail ends the spec because something could not be done.
func (e *Env) fail(ctx context.Context, format string, args ...any) {
	err := fmt.Errorf(format, args...)
	reason, _, _ := strings.Cut(err.Error(), "\n")
	e.failWith(ctx, report.BrokenStep, reason, err)
}

// failWith ends the spec because something broke. What that means for the verdict depends on
// whether the cluster is still alive.
func (e *Env) failWith(ctx context.Context, kind report.BrokenKind, what string, err error) {
	infra := e.place.Death()
	if infra != nil {
		err = fmt.Errorf("%w\n%w", infra, err)
	}
	failure := Broken(kind, what, err.Error(), time.Now())
	if infra != nil || Interrupted(ctx) {
		failure.Verdict = report.Infra
	}
	panic(*failure)
}

// apply applies an object and returns it as it is stored now.
func (e *Env) apply(ctx context.Context, o *unstructured.Unstructured) (reference, *unstructured.Unstructured) {
	ref, err := e.refer(o)
	if err != nil {
		e.fail(ctx, "%s %s: %v", o.GetKind(), o.GetName(), err)
	}
	applied, err := e.send(ctx, ref, o)
	if err != nil {
		e.skipIfAbsent(o, err)
		e.fail(ctx, "applying %s %s: %v", o.GetKind(), o.GetName(), err)
	}
	return ref, applied
}

// send applies an object and returns the API server's answer.
func (e *Env) send(ctx context.Context, ref reference, o *unstructured.Unstructured, dryRun ...string) (*unstructured.Unstructured, error) {
	data, err := json.Marshal(o)
	if err != nil {
		return nil, err
	}
	return e.at(ref).Patch(ctx, ref.name, types.ApplyPatchType, data, metav1.PatchOptions{
		FieldManager: fieldManager, Force: new(true), FieldValidation: metav1.FieldValidationStrict, DryRun: dryRun,
	})
}

// skipIfAbsent skips the spec if an object was refused since the provider's CRD
// has no such field.
func (e *Env) skipIfAbsent(o *unstructured.Unstructured, err error) {
	if field, absent := absentField(err); absent {
		e.skip("the provider's CRD of %s has no field %s", o.GetKind(), field)
	}
}

// skip ends the spec because it can't be put to the test here.
func (e *Env) skip(format string, args ...any) {
	panic(Failure{Verdict: report.Skipped, At: time.Now(), Reason: fmt.Sprintf(format, args...)})
}

// absentField recognises the API server's answer to a field that the schema
// of a custom resource does not have.
func absentField(err error) (string, bool) {
	if err == nil {
		return "", false
	}
	before, _, found := strings.Cut(err.Error(), ": field not declared in schema")
	if !found {
		return "", false
	}
	return before[strings.LastIndexAny(before, " ")+1:], true
}

// refer tells where an object of the spec lives: in the session's namespace
// if its kind has namespaces.
func (e *Env) refer(o *unstructured.Unstructured) (reference, error) {
	gvk := o.GroupVersionKind()
	mapping, err := e.place.Mapper.RESTMapping(gvk.GroupKind(), gvk.Version)
	if err != nil {
		return reference{}, fmt.Errorf("the cluster does not serve %s: %w", gvk, err)
	}
	ref := reference{kind: mapping.Resource, name: o.GetName()}
	if mapping.Scope.Name() == meta.RESTScopeNameNamespace {
		ref.namespace = e.place.Namespace
	}
	return ref, nil
}

func (e *Env) at(r reference) dynamic.ResourceInterface {
	if r.namespace == "" {
		return e.place.Client.Resource(r.kind)
	}
	return e.place.Client.Resource(r.kind).Namespace(r.namespace)
}

func be(n int) string {
	switch n {
	case 0:
		return "is none"
	case 1:
		return "is 1"
	default:
		return fmt.Sprintf("are %d", n)
	}
}

func list(objects []*history.Object) string {
	var b strings.Builder
	for _, o := range objects {
		fmt.Fprintf(&b, "\n  %s", check.Describe(o))
	}
	return b.String()
}
