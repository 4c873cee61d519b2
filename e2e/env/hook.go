package env

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/rand"
	"k8s.io/apimachinery/pkg/util/wait"

	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/e2e/history"
	"github.com/plumbline-e2e/plumbline/e2e/install"
	"github.com/plumbline-e2e/plumbline/e2e/invariant"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
	"github.com/plumbline-e2e/plumbline/providers"
)

// Hook calls the adapter's hook of that name, which changes the provider's cloud or the spec's
// NodeClass. About holds the node, instance or number for the hook, if it needs one. The spec
// is skipped if the adapter has no such hook; see also Spec.Hooks.
//
// UnreadyNodeClass and ReadyNodeClass return when the NodeClass is in that state. ClearFailures
// restarts a controller that remembers a failure for longer than Patience. An Event about the
// NodeClass records the call, and another one its answer. After the spec providers.ResetCloud
// resets the cloud, and a controller that remembers a failure is restarted.
func (e *Env) Hook(ctx context.Context, name providers.HookName, about ...providers.HookValues) {
	e.hook(ctx, string(name), e.place.Adapter.Hooks[name], about, func(v providers.HookValues) ([]byte, error) {
		return e.place.Provider.Call(ctx, name, v)
	})
}

// Drift makes nodes of the spec's NodeClass drift for one of the provider's reasons, in the
// adapter's way. At least one of them is the node that about names, or is in its zone. The
// spec is skipped if the adapter has no way.
func (e *Env) Drift(ctx context.Context, reason string, about ...providers.HookValues) {
	e.hook(ctx, "drift "+reason, e.place.Adapter.Drifts[reason], about, func(v providers.HookValues) ([]byte, error) {
		return e.place.Provider.Drift(ctx, reason, v)
	})
}

// EachDriftReason calls step for each reason that Drift supports, one after the other. The
// spec is skipped if there is none.
func (e *Env) EachDriftReason(step func(reason string)) {
	reasons := slices.Sorted(maps.Keys(e.place.Adapter.Drifts))
	if len(reasons) == 0 {
		e.skip("the adapter of %s has no way to make nodes drift for a reason of the provider's", e.place.Adapter.Name)
	}
	for _, reason := range reasons {
		step(reason)
	}
}

// Bound returns how long the provider may take for a capability, in cluster time, as the
// adapter says. The spec is skipped if the adapter doesn't say.
func (e *Env) Bound(c providers.Capability) time.Duration {
	bound := e.place.Adapter.Capabilities[c].Within
	if bound == 0 {
		e.skip("the adapter of %s doesn't say how long %s takes", e.place.Adapter.Name, c)
	}
	return bound
}

// About returns a node's name, provider ID and zone as values for a hook.
func About(node *history.Object) providers.HookValues {
	u := node.Unstructured()
	return providers.HookValues{
		NodeName: node.Name, ProviderID: karpenter.NodeProviderID(u), Zone: karpenter.Label(u, corev1.LabelTopologyZone),
	}
}

// HookEach calls a hook, as Hook does, for each node that is counted now.
func (e *Env) HookEach(ctx context.Context, name providers.HookName, nodes check.Count) {
	for _, node := range nodes.Of(e.World()) {
		e.Hook(ctx, name, About(node))
	}
}

func (e *Env) hook(ctx context.Context, name string, h providers.Hook, about []providers.HookValues,
	call func(providers.HookValues) ([]byte, error),
) {
	var v providers.HookValues
	if len(about) > 0 {
		v = about[0]
	}
	e.nodeClass(ctx)
	e.hooked, e.poison = true, max(e.poison, h.Poison)
	v = e.hookValues(v)
	what := strings.TrimSpace(name + " " + strings.TrimSpace(v.NodeName+" "+v.ProviderID))
	e.recordHook(ctx, what)
	answer, err := call(v)
	if errors.Is(err, install.ErrNoHook) {
		e.skip("%v", err)
	}
	if err != nil {
		e.fail(ctx, "%w", err)
	}
	if text := strings.TrimSpace(string(answer)); text != "" {
		e.recordHook(ctx, fmt.Sprintf("%s: %.500s", what, text))
	}
	switch providers.HookName(name) {
	case providers.UnreadyNodeClass:
		e.Await(ctx, 0, readyNodeClass(e.place.Adapter.NodeClassGVR()))
	case providers.ReadyNodeClass:
		e.Await(ctx, 1, readyNodeClass(e.place.Adapter.NodeClassGVR()))
	case providers.ClearFailures:
		e.forgetFailures(ctx)
	}
}

// Patience is the longest that specs wait for a provider to forget a failure (Hook.Poison). Their
// time limits have room for it.
const Patience = 5 * time.Minute

// forgetFailures restarts the controller if it remembers a failure for longer than Patience.
func (e *Env) forgetFailures(ctx context.Context) {
	if e.poison <= Patience {
		return
	}
	if err := e.place.Provider.Restart(ctx); err != nil {
		e.fail(ctx, "making the controller forget the failures: %w", err)
	}
	e.result.Notes = append(e.result.Notes, fmt.Sprintf(
		"the controller was restarted, since it remembers failures of the cloud for %s", e.poison))
	e.poison = 0
}

// recordHook records what a hook does, by an Event about the spec's NodeClass.
func (e *Env) recordHook(ctx context.Context, what string) {
	kind, class := e.place.Adapter.NodeClassObject("").GetKind(), &history.Object{Name: nodeClassObject}
	if err := e.announceAbout(ctx, kind, class, invariant.ReasonHook, what); err != nil {
		e.fail(ctx, "recording the hook %s: %w", what, err)
	}
}

// readyNodeClass counts the spec's NodeClass, if it is ready.
func readyNodeClass(kind schema.GroupVersionResource) check.Count {
	return check.Where("ready NodeClasses", kind, func(o *unstructured.Unstructured) bool {
		return o.GetName() == nodeClassObject && karpenter.IsTrue(o, karpenter.Ready)
	})
}

// hookValues adds the values that all hooks get.
func (e *Env) hookValues(v providers.HookValues) providers.HookValues {
	v.NodeClass, v.Kubeconfig, v.Nonce = nodeClassObject, e.place.Cluster.Kubeconfig(), rand.String(8)
	v.Now = e.recorder.History().Taken().UTC().Format(time.RFC3339)
	return v
}

// resetCloud resets the cloud, if the spec called a hook.
func (e *Env) resetCloud(ctx context.Context) error {
	if !e.hooked {
		return nil
	}
	_, err := e.place.Provider.Call(ctx, providers.ResetCloud, e.hookValues(providers.HookValues{}))
	if errors.Is(err, install.ErrNoHook) {
		return nil
	}
	return err
}

// FollowInstances counts the instances in the provider's cloud from now on. Each is recorded
// as an Event, whose message is the provider ID, while the adapter's hook listInstances
// returns it. The cloud is polled every instancesEvery, so short-lived instances may be
// missed. The spec is skipped if the adapter has no such hook.
func (e *Env) FollowInstances(ctx context.Context) check.Count {
	listed := map[string]string{} // Events' names by provider ID
	instances := check.ReportsFrom(invariant.Harness, reasonInstance, nil).New(e.Mark()).Named("instances in the cloud")
	if err := e.recordInstances(ctx, listed); errors.Is(err, install.ErrNoHook) {
		e.skip("%v", err)
	} else if err != nil {
		e.fail(ctx, "%w", err)
	}
	go func() {
		_ = wait.PollUntilContextCancel(ctx, instancesEvery, false, func(ctx context.Context) (bool, error) {
			_ = e.recordInstances(ctx, listed) // the next poll tries again
			return false, nil
		})
	}()
	return instances
}

// reasonInstance is the reason of Events that exist as long as an instance.
const reasonInstance = "Instance"

// recordInstances polls the instances. It creates and deletes Events for those that came and
// went.
func (e *Env) recordInstances(ctx context.Context, listed map[string]string) error {
	ids, err := e.place.Provider.Instances(ctx, e.hookValues(providers.HookValues{}))
	if err != nil {
		return err
	}
	class := &history.Object{Name: nodeClassObject}
	for _, id := range ids {
		if listed[id] != "" {
			continue
		}
		if listed[id], err = e.report(ctx, e.place.Adapter.NodeClassObject("").GetKind(), class, reasonInstance,
			id); err != nil {
			return err
		}
	}
	for id, name := range listed {
		if slices.Contains(ids, id) {
			continue
		}
		err := e.resourceInterface(reference{kind: karpenter.Events, namespace: metav1.NamespaceDefault}).
			Delete(ctx, name, metav1.DeleteOptions{})
		if err != nil && !apierrors.IsNotFound(err) {
			return err
		}
		delete(listed, id)
	}
	return nil
}
