package env

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"

	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/e2e/history"
	"github.com/plumbline-e2e/plumbline/e2e/install"
	"github.com/plumbline-e2e/plumbline/e2e/invariant"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
	"github.com/plumbline-e2e/plumbline/fixtures"
	"github.com/plumbline-e2e/plumbline/providers"
)

// instancesEvery is how often a cloud is polled. It has no watch.
const instancesEvery = 500 * time.Millisecond

// CleanUpWithin limits the clean-up. A node drains within seconds; what is left then is stuck.
const CleanUpWithin = 60 * time.Second

// podsWithin limits the wait for the pods of deleted workloads.
const podsWithin = 10 * time.Second

// batch is how long after the last pod Karpenter may still launch nodes. Its batch window
// stays open for 1 s after that pod.
const batch = 3 * time.Second

// launchWithin limits the wait for launches in progress.
const launchWithin = 15 * time.Second

// namespaces is the kind of namespaces, which a run doesn't record.
var namespaces = schema.GroupVersionResource{Version: "v1", Resource: "namespaces"}

// CleanUp deletes what the spec created and all that came of it. It returns what is left after
// CleanUpWithin: nothing, if the provider ends what it launched.
func CleanUp(ctx context.Context, e *Env) []string {
	ctx, cancel := context.WithTimeout(ctx, CleanUpWithin)
	defer cancel()
	ctx, stop := e.place.WhileAlive(ctx)
	defer stop()
	var problems []string
	for _, step := range []func(context.Context) error{
		e.announceCleanUp, e.letKubeletsGoOn, e.restoreSettings, e.resetCloud, e.deleteWorkloads,
		e.letLaunchesEnd, e.deletePools, e.awaitEmpty, e.awaitNoInstances, e.deleteNodeClasses, e.restoreStorage,
	} {
		if err := step(ctx); err != nil {
			problems = append(problems, strings.Split(err.Error(), "\n")...)
		}
		if ctx.Err() != nil {
			break // later steps would only fail with a timeout
		}
	}
	return problems
}

// announceCleanUp records that all that is left is about to be deleted, so that the provider isn't blamed.
func (e *Env) announceCleanUp(ctx context.Context) error {
	if err := e.announce(ctx, invariant.ReasonDeleted, "the clean-up deletes what is left"); err != nil {
		return fmt.Errorf("recording the clean-up: %w", err)
	}
	return nil
}

// deleteWorkloads deletes everything but Karpenter's objects and NodeClasses, including
// volumes and runtime classes. The garbage collector then has podsWithin to delete pods: it
// ends a ReplicaSet before its pods, so they are not replaced. The pods that are left are
// deleted by force, so that nothing needs nodes.
func (e *Env) deleteWorkloads(ctx context.Context) error {
	awaited := e.awaitNodes()
	later := []schema.GroupVersionResource{
		karpenter.NodePools, karpenter.NodeClaims, e.place.Adapter.NodeClassGVR(), namespaces,
	}
	for _, ref := range e.created {
		if slices.Contains(later, ref.kind) {
			continue
		}
		if err := e.remove(ctx, ref, metav1.DeletePropagationBackground); err != nil {
			return err
		}
	}
	if err := e.releasePods(ctx); err != nil {
		return err
	}
	if err := e.letPodsEnd(ctx); err != nil {
		return err
	}
	err := e.resourceInterface(reference{kind: karpenter.Pods, namespace: e.place.Namespace}).DeleteCollection(ctx,
		metav1.DeleteOptions{GracePeriodSeconds: new(int64(0))}, metav1.ListOptions{})
	if err != nil {
		return fmt.Errorf("deleting pods: %w", err)
	}
	if err := e.deleteNamespaces(ctx); err != nil {
		return err
	}
	if awaited {
		return e.awaitAWhile(ctx, batch, "a batch", func(*history.World) bool { return false })
	}
	return nil
}

// deleteNamespaces deletes the namespaces that the spec created, with all that is left in them. It does not
// wait until they are gone: their names are unique.
func (e *Env) deleteNamespaces(ctx context.Context) error {
	for _, ref := range e.created {
		if ref.kind != namespaces {
			continue
		}
		if err := e.remove(ctx, ref, metav1.DeletePropagationBackground); err != nil {
			return err
		}
	}
	return nil
}

// isOfSpec reports whether an object is in a namespace that the spec uses: that of all specs, or one that it
// created.
func (e *Env) isOfSpec(o *history.Object) bool {
	return o.Namespace == e.place.Namespace ||
		slices.Contains(e.created, reference{kind: namespaces, name: o.Namespace})
}

// awaitNodes reports whether pods of the spec wait for a node. Karpenter may still launch
// nodes for them after they are gone.
func (e *Env) awaitNodes() bool {
	return slices.ContainsFunc(e.recorder.History().End().List(karpenter.Pods), func(pod *history.Object) bool {
		return e.isOfSpec(pod) && karpenter.PodNode(pod.Unstructured()) == ""
	})
}

// releasePods removes the finalizers of pods that the spec made linger.
func (e *Env) releasePods(ctx context.Context) error {
	for _, pod := range e.recorder.History().End().List(karpenter.Pods) {
		if !e.isOfSpec(pod) ||
			!slices.Contains(pod.Unstructured().GetFinalizers(), fixtures.LingeringFinalizer) {
			continue
		}
		_, err := e.resourceInterface(reference{kind: karpenter.Pods, namespace: pod.Namespace}).
			Patch(ctx, pod.Name, types.MergePatchType,
				[]byte(`{"metadata":{"finalizers":null}}`), metav1.PatchOptions{FieldManager: fieldManager})
		if err != nil && !apierrors.IsNotFound(err) {
			return fmt.Errorf("releasing pod %s: %w", pod.Name, err)
		}
	}
	return nil
}

// letPodsEnd waits up to podsWithin until the spec's namespaces have no pods.
func (e *Env) letPodsEnd(ctx context.Context) error {
	return e.awaitAWhile(ctx, podsWithin, "pods to end", func(w *history.World) bool {
		return !slices.ContainsFunc(w.List(karpenter.Pods), e.isOfSpec)
	})
}

// letLaunchesEnd waits up to launchWithin for claims whose node has not joined yet. Deleting a
// claim in the middle of its launch tests a promise that has its own spec. The clean-up of
// other specs must not test it by chance.
func (e *Env) letLaunchesEnd(ctx context.Context) error {
	return e.awaitAWhile(ctx, launchWithin, "launches", func(w *history.World) bool {
		for _, claim := range w.List(karpenter.NodeClaims) {
			if !karpenter.IsTrue(claim.Unstructured(), karpenter.Registered) && !karpenter.Deleting(claim.Unstructured()) {
				return false
			}
		}
		return true
	})
}

// awaitAWhile waits for something that need not come. A timeout is no error.
func (e *Env) awaitAWhile(ctx context.Context, within time.Duration, what string,
	pred func(*history.World) bool,
) error {
	ctx, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	if err := e.recorder.Await(ctx, pred); err != nil && ctx.Err() == nil {
		return fmt.Errorf("waiting for %s: %w", what, err)
	}
	return nil
}

// deletePools deletes NodePools, which not all providers have, and NodeClaims, and so their nodes.
func (e *Env) deletePools(ctx context.Context) error {
	for _, kind := range []schema.GroupVersionResource{karpenter.NodePools, karpenter.NodeClaims} {
		err := e.resourceInterface(reference{kind: kind}).DeleteCollection(ctx, metav1.DeleteOptions{}, metav1.ListOptions{})
		if err != nil && !apierrors.IsNotFound(err) {
			return fmt.Errorf("deleting %s: %w", kind.Resource, err)
		}
	}
	return nil
}

// awaitEmpty waits until no pods, claims, nodes or pools of the spec are left.
func (e *Env) awaitEmpty(ctx context.Context) error {
	var left []*history.Object
	err := e.recorder.Await(ctx, func(w *history.World) bool {
		left = e.leftovers(w)
		return len(left) == 0
	})
	if err == nil {
		return nil
	}
	if e.place.Death() != nil || Interrupted(ctx) {
		return nil //nolint:nilerr // nothing can be said of a cluster that died, or is about to go
	}
	var lines []string
	for _, o := range left {
		lines = append(lines, check.Describe(o))
	}
	return errors.New(strings.Join(lines, "\n"))
}

func (e *Env) leftovers(w *history.World) []*history.Object {
	left := append(w.List(karpenter.NodePools), w.List(karpenter.NodeClaims)...)
	for _, pod := range w.List(karpenter.Pods) {
		if e.isOfSpec(pod) {
			left = append(left, pod)
		}
	}
	for _, node := range w.List(karpenter.Nodes) {
		if !e.nodesBefore.Has(node.Name) {
			left = append(left, node)
		}
	}
	return left
}

// awaitNoInstances waits until the provider's cloud has no instances. It does nothing if the
// adapter has no hook to list them.
func (e *Env) awaitNoInstances(ctx context.Context) error {
	var left []string
	err := wait.PollUntilContextCancel(ctx, instancesEvery, true, func(ctx context.Context) (bool, error) {
		var err error
		left, err = e.place.Provider.Instances(ctx,
			providers.HookValues{Kubeconfig: e.place.Cluster.Kubeconfig(), NodeClass: nodeClassObject})
		return len(left) == 0, err
	})
	switch {
	case err == nil || errors.Is(err, install.ErrNoHook) || Interrupted(ctx):
		return nil
	case ctx.Err() != nil:
		return fmt.Errorf("instances in the provider's cloud: %s", strings.Join(left, ", "))
	default:
		return fmt.Errorf("asking for instances: %w", err)
	}
}

// deleteNodeClasses deletes the spec's NodeClasses, which no claim needs now. It waits until
// the provider releases them, because the next spec creates one of the same name.
func (e *Env) deleteNodeClasses(ctx context.Context) error {
	kind := e.place.Adapter.NodeClassGVR()
	var names []string
	for _, ref := range e.created {
		if ref.kind != kind {
			continue
		}
		if err := e.remove(ctx, ref, metav1.DeletePropagationBackground); err != nil {
			return err
		}
		names = append(names, ref.name)
	}
	var left []string
	err := e.recorder.Await(ctx, func(w *history.World) bool {
		left = slices.DeleteFunc(slices.Clone(names), func(name string) bool { return w.Get(kind, "", name) == nil })
		return len(left) == 0
	})
	if err == nil || e.place.Death() != nil || Interrupted(ctx) {
		return nil //nolint:nilerr // nothing can be said of a cluster that died, or is about to go
	}
	return fmt.Errorf("%s: %s", kind.Resource, strings.Join(left, ", "))
}

func (e *Env) remove(ctx context.Context, ref reference, policy metav1.DeletionPropagation) error {
	err := e.deleteOne(ctx, ref, policy)
	if err != nil && !apierrors.IsNotFound(err) {
		return fmt.Errorf("deleting %s: %w", ref, err)
	}
	return nil
}
