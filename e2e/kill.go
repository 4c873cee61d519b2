package e2e

import (
	"context"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/plumbline-e2e/plumbline/e2e/cluster"
	"github.com/plumbline-e2e/plumbline/e2e/history"
	"github.com/plumbline-e2e/plumbline/e2e/invariant"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
)

// KillController ends the provider's controller as a crash does, by SIGKILL, and
// waits until it has been restarted and is ready again. Ready is not yet leading:
// whoever elects a leader waits for the lease of the dead one to end, with
// Karpenter's own settings 15 s. An Event about each pod says that the kill was
// asked for, so that it isn't held against the provider. The spec is skipped
// where the backend can't kill.
func (e *Env) KillController(ctx context.Context) {
	killer, can := e.session.Cluster.(cluster.Killer)
	if !can {
		e.skip("the backend has no way to make the controller crash")
	}
	for _, name := range e.session.Provider.Pods(ctx) {
		pod := e.World().Get(karpenter.Pods, e.session.Provider.Namespace, name)
		if pod == nil || karpenter.Deleting(pod.Unstructured()) {
			continue
		}
		if err := e.kill(ctx, killer, pod); err != nil {
			e.fail(ctx, "killing the controller: %w", err)
		}
	}
}

// kill ends one of the controller's pods and waits for it to come back.
func (e *Env) kill(ctx context.Context, killer cluster.Killer, pod *history.Object) error {
	if err := e.announceKill(ctx, pod); err != nil {
		return err
	}
	if err := killer.Kill(ctx, pod.Namespace, pod.Name); err != nil {
		return err
	}
	before := restarts(pod)
	err := e.recorder.Await(ctx, func(w *history.World) bool {
		now := w.Get(karpenter.Pods, pod.Namespace, pod.Name)
		return now != nil && restarts(now) > before
	})
	if err != nil {
		return fmt.Errorf("pod %s was killed and not restarted: %w", pod.Name, err)
	}
	return e.session.Provider.ReadyAgain(ctx, pod.Name)
}

// restarts is how often containers of a pod have been restarted.
func restarts(pod *history.Object) (n int) {
	for _, c := range karpenter.Containers(pod.Unstructured()) {
		n += int(c.RestartCount)
	}
	return n
}

// announceKill writes an Event by which the recording tells a kill from a crash.
func (e *Env) announceKill(ctx context.Context, pod *history.Object) error {
	now := metav1.Now().UTC().Format("2006-01-02T15:04:05Z")
	event := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "v1",
		"kind":       "Event",
		"metadata":   map[string]any{"generateName": pod.Name + "."},
		"involvedObject": map[string]any{
			"apiVersion": "v1", "kind": "Pod", "namespace": pod.Namespace, "name": pod.Name, "uid": pod.UID,
		},
		"type":           "Normal",
		"reason":         invariant.ReasonKilled,
		"message":        "killed by the spec, as a crash would",
		"source":         map[string]any{"component": invariant.Harness},
		"firstTimestamp": now,
		"lastTimestamp":  now,
		"count":          int64(1),
	}}
	_, err := e.session.client.Resource(karpenter.Events).Namespace(pod.Namespace).Create(ctx, event, metav1.CreateOptions{FieldManager: fieldManager})
	return err
}
