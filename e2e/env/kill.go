package env

import (
	"cmp"
	"context"
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/plumbline-e2e/plumbline/e2e/cluster"
	"github.com/plumbline-e2e/plumbline/e2e/history"
	"github.com/plumbline-e2e/plumbline/e2e/invariant"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
)

// KillController kills the provider's controller with SIGKILL, as a crash does, and waits
// until it is ready again. Ready is not leading: with leader election it waits for the dead
// leader's lease to end, 15 s with Karpenter's own settings. An Event about each pod records
// the kill, so that the provider isn't blamed. The spec is skipped where the backend can't
// kill.
func (e *Env) KillController(ctx context.Context) {
	if err := e.restart(ctx, killed, e.killer().Kill); err != nil {
		e.fail(ctx, "killing the controller: %w", err)
	}
}

// restart ends the controller's pods, and waits until they have restarted.
func (e *Env) restart(ctx context.Context, why string, by ending) error {
	ended, err := e.end(ctx, why, by)
	if err != nil {
		return err
	}
	return e.awaitRestarts(ctx, ended)
}

// ending ends a pod of the controller.
type ending func(ctx context.Context, namespace, name string) error

// killed is what Events say of pods that are killed.
const killed = "killed by the spec, as a crash would"

// killer returns the cluster if it can kill pods. Otherwise it skips the spec.
func (e *Env) killer() cluster.Killer {
	killer, can := e.place.Cluster.(cluster.Killer)
	if !can {
		e.skip("the backend has no way to make the controller crash")
	}
	return killer
}

// end ends the controller's pods and returns them as they were. An Event about each says why, so that the provider
// isn't blamed. Faults call it beside the spec's function, so it must not fail the spec, which panics.
func (e *Env) end(ctx context.Context, why string, by ending) (ended []*history.Object, err error) {
	for _, name := range e.place.Provider.Pods(ctx) {
		world, err := e.world()
		if err != nil {
			return ended, err
		}
		pod := world.Get(karpenter.Pods, e.place.Provider.Namespace, name)
		if pod == nil || karpenter.Deleting(pod.Unstructured()) {
			continue
		}
		if err = e.announceAbout(ctx, "Pod", pod, invariant.ReasonKilled, why); err == nil {
			err = by(ctx, pod.Namespace, pod.Name)
		}
		if err != nil {
			return ended, err
		}
		ended = append(ended, pod)
	}
	return ended, nil
}

// awaitRestarts waits until pods that ended have restarted and are ready again.
func (e *Env) awaitRestarts(ctx context.Context, ended []*history.Object) error {
	for _, pod := range ended {
		before := restarts(pod)
		err := e.recorder.Await(ctx, func(w *history.World) bool {
			now := w.Get(karpenter.Pods, pod.Namespace, pod.Name)
			return now != nil && restarts(now) > before
		})
		if err != nil {
			return fmt.Errorf("pod %s should have ended, and did not restart: %w", pod.Name, err)
		}
		if err := e.place.Provider.ReadyAgain(ctx, pod.Name); err != nil {
			return err
		}
	}
	return nil
}

// restarts returns how often the containers of a pod have restarted.
func restarts(pod *history.Object) (n int) {
	for _, c := range karpenter.Containers(pod.Unstructured()) {
		n += int(c.RestartCount)
	}
	return n
}

// Report writes the harness's own Event about an object, after a spec's function has ended.
func Report(ctx context.Context, e *Env, kind string, about *history.Object, reason, message string) error {
	_, err := e.report(ctx, kind, about, reason, message)
	return err
}

// report writes the harness's own Event about an object, and returns the Event's name.
func (e *Env) report(ctx context.Context, kind string, about *history.Object, reason, message string) (string, error) {
	now := metav1.Now().UTC().Format(time.RFC3339)
	event := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "v1",
		"kind":       "Event",
		"metadata":   map[string]any{"generateName": about.Name + "."},
		"involvedObject": map[string]any{
			"apiVersion": "v1", "kind": kind, "namespace": about.Namespace, "name": about.Name, "uid": about.UID,
		},
		"type":           "Normal",
		"reason":         reason,
		"message":        message,
		"source":         map[string]any{"component": invariant.Harness},
		"firstTimestamp": now,
		"lastTimestamp":  now,
		"count":          int64(1),
	}}
	made, err := e.place.Client.Resource(karpenter.Events).Namespace(cmp.Or(about.Namespace, metav1.NamespaceDefault)).
		Create(ctx, event, metav1.CreateOptions{FieldManager: fieldManager})
	if err != nil {
		return "", err
	}
	return made.GetName(), nil
}
