package env

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/client-go/dynamic"

	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/e2e/history"
	"github.com/plumbline-e2e/plumbline/e2e/install"
	"github.com/plumbline-e2e/plumbline/e2e/invariant"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
	"github.com/plumbline-e2e/plumbline/e2e/report"
	"github.com/plumbline-e2e/plumbline/fixtures"
)

// fieldManager owns the fields that specs apply.
const fieldManager = "plumbline"

// Env is what a spec works with: one cluster, one provider, one recording. Its methods fail
// the spec themselves and return only on success.
type Env struct {
	place    *Place
	recorder Recording
	life     context.Context //nolint:containedctx // it is the spec's, by which the recording is asked
	created  []reference     // in the order of their creation
	hooked   bool            // a hook was called, so the cloud needs a reset
	skewed   bool            // the controller's clock was set
	poison   time.Duration   // how long the controller remembers what hooks did; 0: nothing
	result   Result

	foreground bool // the spec may delete in the foreground

	nodesBefore sets.Set[string] // names of the nodes from before the spec

	faults          []*fault                    // in the order in which they began
	resumeKubelets  func() error                // set while the kubelets are paused
	configureBack   func(context.Context) error // set while the controller has other settings
	upgraded        bool                        // the provider's release is not the session's any more
	storedOtherwise bool                        // the CRDs' storage version was changed
}

// reference identifies an object in the cluster.
type reference struct {
	kind            schema.GroupVersionResource
	namespace, name string
}

func (r reference) String() string {
	return fmt.Sprintf("%s/%s", r.kind.Resource, r.name)
}

// Create applies objects, server-side and with strict field validation. It leaves out fields that are
// null: to ExpectFields they say that there is no such field. It completes NodePools and NodeClaims from
// the provider's templates. For a NodePool of the provider it waits until Ready is True or False: until
// then Karpenter ignores the pool, and it retries a pod only much later.
func (e *Env) Create(ctx context.Context, objects ...fixtures.Object) {
	for _, object := range objects {
		o := e.complete(ctx, object.Unstructured())
		withoutNulls(o.Object)
		ref, applied := e.apply(ctx, o)
		ref.kind = e.recordedAs(ref.kind)
		e.created = append(e.created, ref)
		if e.hasReadiness(applied) {
			e.awaitReadiness(ctx, ref, applied.GetGeneration())
		}
	}
}

// hasReadiness reports whether an object is a NodePool that the provider serves. It takes no notice
// of those whose NodeClass is of another group or kind.
func (e *Env) hasReadiness(o *unstructured.Unstructured) bool {
	if o.GetKind() != "NodePool" {
		return false
	}
	class, _, _ := unstructured.NestedStringMap(o.Object, "spec", "template", "spec", "nodeClassRef")
	own := e.place.Adapter.NodeClassObject("").GroupVersionKind()
	group, _, _ := strings.Cut(class["apiVersion"], "/") // in v1beta1
	return cmp.Or(class["group"], group, own.Group) == own.Group && cmp.Or(class["kind"], own.Kind) == own.Kind
}

// awaitReadiness waits until the condition Ready of a NodePool's generation is True or False.
func (e *Env) awaitReadiness(ctx context.Context, pool reference, generation int64) {
	err := e.recorder.Await(ctx, func(w *history.World) bool {
		o := w.Get(pool.kind, pool.namespace, pool.name)
		return o != nil && saysReadiness(o.Unstructured(), generation)
	})
	if err != nil {
		e.fail(ctx, "waiting for the condition Ready of %s: %w", pool, err)
	}
}

// Launch creates a NodePool and a workload. It waits until n pods run and n nodes are
// initialized, and returns the nodes.
func (e *Env) Launch(ctx context.Context, n int, pool, app fixtures.Object) []*history.Object {
	e.Create(ctx, pool, app)
	e.Await(ctx, n, check.RunningPods(app))
	e.Await(ctx, n, check.InitializedNodeClaims(pool))
	return e.Await(ctx, n, check.InitializedNodes(pool))
}

// TwoZones creates a NodePool and makes it launch two nodes in different zones, whose names it
// returns. They have room for small pods.
func (e *Env) TwoZones(ctx context.Context, pool *fixtures.Pool) (here, there string) {
	e.Create(ctx, pool, fixtures.Deployment(1).On(pool))
	here = karpenter.Label(e.Await(ctx, 1, check.ReadyNodes(pool))[0].Unstructured(), corev1.LabelTopologyZone)
	known := e.Mark()
	e.Create(ctx, fixtures.Deployment(1).On(pool).Require(corev1.LabelTopologyZone, fixtures.NotIn, here))
	node := e.Await(ctx, 1, check.ReadyNodes(pool).New(known))[0]
	return here, karpenter.Label(node.Unstructured(), corev1.LabelTopologyZone)
}

// Change applies objects again after their builders changed. It waits for NodePools as Create
// does.
func (e *Env) Change(ctx context.Context, objects ...fixtures.Object) {
	for _, object := range objects {
		ref, applied := e.apply(ctx, e.complete(ctx, object.Unstructured()))
		if e.hasReadiness(applied) {
			ref.kind = e.recordedAs(ref.kind)
			e.awaitReadiness(ctx, ref, applied.GetGeneration())
		}
	}
}

// Delete deletes objects. It does not wait for their finalizers.
func (e *Env) Delete(ctx context.Context, objects ...fixtures.Object) {
	e.delete(ctx, metav1.DeletePropagationBackground, objects)
}

// DeleteInForeground deletes objects as `kubectl delete --cascade=foreground` does: each stays
// until all that it owns is gone. It does not wait for that. It needs Spec.Foreground.
func (e *Env) DeleteInForeground(ctx context.Context, objects ...fixtures.Object) {
	e.needForeground(ctx)
	e.delete(ctx, metav1.DeletePropagationForeground, objects)
}

func (e *Env) needForeground(ctx context.Context) {
	if !e.foreground {
		e.fail(ctx, "deleting in the foreground: the spec doesn't say Foreground")
	}
}

func (e *Env) delete(ctx context.Context, policy metav1.DeletionPropagation, objects []fixtures.Object) {
	for _, object := range objects {
		o := object.Unstructured()
		ref, err := e.refer(o)
		if err == nil {
			err = e.deleteOne(ctx, ref, policy)
		}
		if err != nil {
			e.fail(ctx, "deleting %s %s: %v", o.GetKind(), o.GetName(), err)
		}
	}
}

// deleteOne deletes an object. If it is a NodeClaim or a node, an Event about it says so beforehand, so that the
// provider isn't blamed.
func (e *Env) deleteOne(ctx context.Context, ref reference, policy metav1.DeletionPropagation) error {
	kinds := map[schema.GroupVersionResource]string{karpenter.NodeClaims: "NodeClaim", karpenter.Nodes: "Node"}
	if kind := kinds[karpenter.RecordedAs(ref.kind)]; kind != "" {
		about := &history.Object{Name: ref.name}
		if err := e.announceAbout(ctx, kind, about, invariant.ReasonDeleted, "deleted by the spec"); err != nil {
			return err
		}
	}
	return e.resourceInterface(ref).Delete(ctx, ref.name, metav1.DeleteOptions{PropagationPolicy: &policy})
}

// Await waits until exactly n objects are counted in the recording, and returns them. It
// misses no moment.
func (e *Env) Await(ctx context.Context, n int, count check.Count) []*history.Object {
	return e.await(ctx, check.Words(n, count.Name), count, func(got int) bool { return got == n })
}

// AwaitAtLeast waits until n or more objects are counted, and returns them.
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
			time.Since(began).Round(100*time.Millisecond), wanted, toBe(len(objects)), err, list(objects)+e.situation(ctx)))
	}
	return objects
}

// recorded returns the complete recording up to now.
func (e *Env) recorded() *history.History {
	h, err := e.recorder.Complete(e.life)
	if err != nil {
		e.fail(e.life, "recording: %w", err)
	}
	return h
}

// world returns all objects as they are now. Unlike World, it may be called beside the spec's function.
func (e *Env) world() (*history.World, error) {
	h, err := e.recorder.Complete(e.life)
	if err != nil {
		return nil, fmt.Errorf("recording: %w", err)
	}
	return h.End(), nil
}

// Expect judges checks over a recording. The spec fails unless all hold. A check that was
// never tested makes it vacuous.
func (e *Env) Expect(h *history.History, checks ...check.Check) {
	var findings []check.Finding
	for _, c := range checks {
		f := c.Judge(h)
		e.result.Claims = append(e.result.Claims,
			report.Judged{Check: f.Check, Verdict: f.Verdict.String(), Tested: f.Tested})
		if f.Verdict != check.Holds {
			findings = append(findings, f)
		}
	}
	if len(findings) > 0 {
		panic(failureOf(findings))
	}
}

// Fail fails the spec with a sentence about the promise.
func (e *Env) Fail(format string, args ...any) {
	what := fmt.Sprintf(format, args...)
	panic(*Broken(report.BrokenCheck, what, what, time.Now()))
}

// fail ends the spec because a step could not be done.
func (e *Env) fail(ctx context.Context, format string, args ...any) {
	err := fmt.Errorf(format, args...)
	reason, _, _ := strings.Cut(err.Error(), "\n")
	e.failWith(ctx, report.BrokenStep, reason, err)
}

// failWith ends the spec because something broke. The verdict is infra if the cluster died or
// the run was interrupted.
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

// apply applies an object and returns it as stored.
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

func (e *Env) send(ctx context.Context, ref reference, o *unstructured.Unstructured,
	dryRun ...string,
) (*unstructured.Unstructured, error) {
	data, err := json.Marshal(o)
	if err != nil {
		return nil, err
	}
	e.result.sets(o)
	return e.resourceInterface(ref).Patch(ctx, ref.name, types.ApplyPatchType, data, metav1.PatchOptions{
		FieldManager: fieldManager, Force: new(true), FieldValidation: metav1.FieldValidationStrict, DryRun: dryRun,
	})
}

// skipIfAbsent skips the spec if err says that the provider's CRD lacks a field of the object.
func (e *Env) skipIfAbsent(o *unstructured.Unstructured, err error) {
	if field, absent := absentField(err); absent {
		e.skip("the provider's CRD of %s has no field %s", o.GetKind(), field)
	}
}

// skip ends the spec because it can't be tested here.
func (e *Env) skip(format string, args ...any) {
	panic(Failure{Verdict: report.Skipped, At: time.Now(), Reason: fmt.Sprintf(format, args...)})
}

// absentField returns the field that a custom resource's schema lacks, from the API server's
// error.
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

// refer returns a reference to an object. One of a namespaced kind is in its own namespace, or in the
// session's if it says none.
func (e *Env) refer(o *unstructured.Unstructured) (reference, error) {
	kind, namespace, err := install.Locate(e.place.Mapper, o, e.place.Namespace)
	if err != nil {
		return reference{}, fmt.Errorf("the cluster does not serve %s: %w", o.GroupVersionKind(), err)
	}
	return reference{kind: kind, name: o.GetName(), namespace: namespace}, nil
}

func (e *Env) resourceInterface(r reference) dynamic.ResourceInterface {
	if r.namespace == "" {
		return e.place.Client.Resource(r.kind)
	}
	return e.place.Client.Resource(r.kind).Namespace(r.namespace)
}

func toBe(n int) string {
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
