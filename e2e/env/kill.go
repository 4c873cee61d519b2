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
	killed, err := e.kill(ctx, e.killer())
	if err == nil {
		err = e.awaitRestarts(ctx, killed)
	}
	if err != nil {
		e.fail(ctx, "killing the controller: %w", err)
	}
}

// killer returns the cluster if it can kill pods. Otherwise it skips the spec.
func (e *Env) killer() cluster.Killer {
	killer, can := e.place.Cluster.(cluster.Killer)
	if !can {
		e.skip("the backend has no way to make the controller crash")
	}
	return killer
}

// kill kills the controller's pods and returns them as they were.
func (e *Env) kill(ctx context.Context, killer cluster.Killer) (killed []*history.Object, err error) {
	for _, name := range e.place.Provider.Pods(ctx) {
		pod := e.World().Get(karpenter.Pods, e.place.Provider.Namespace, name)
		if pod == nil || karpenter.Deleting(pod.Unstructured()) {
			continue
		}
		_, err := e.report(ctx, "Pod", pod, invariant.ReasonKilled, "killed by the spec, as a crash would")
		if err == nil {
			err = killer.Kill(ctx, pod.Namespace, pod.Name)
		}
		if err != nil {
			return killed, err
		}
		killed = append(killed, pod)
	}
	return killed, nil
}

// awaitRestarts waits until pods that were killed have restarted and are ready again.
func (e *Env) awaitRestarts(ctx context.Context, killed []*history.Object) error {
	for _, pod := range killed {
		before := restarts(pod)
		err := e.recorder.Await(ctx, func(w *history.World) bool {
			now := w.Get(karpenter.Pods, pod.Namespace, pod.Name)
			return now != nil && restarts(now) > before
		})
		if err != nil {
			return fmt.Errorf("pod %s was killed and not restarted: %w", pod.Name, err)
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
