package env

import (
	"context"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/e2e/history"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
	"github.com/plumbline-e2e/plumbline/providers"
)

// Toleration returns how long the provider leaves an unhealthy node alone, as the adapter
// says.
func (e *Env) Toleration() time.Duration {
	return e.place.Adapter.Capabilities[providers.NodeRepair].Toleration
}

// Unhealthy matches nodes with the condition that MakeUnhealthy sets.
func (e *Env) Unhealthy() check.Predicate {
	unhealthy := e.unhealthy()
	return func(node *unstructured.Unstructured) bool {
		c, found := karpenter.Condition(node, unhealthy.Type)
		return found && string(c.Status) == unhealthy.Status
	}
}

// MakeUnhealthy sets the condition that the adapter's capability nodeRepair names on nodes.
// The spec is skipped if it names none.
func (e *Env) MakeUnhealthy(ctx context.Context, nodes ...*history.Object) {
	unhealthy := e.unhealthy()
	for _, node := range nodes {
		e.setCondition(ctx, node.Name, unhealthy.Type, unhealthy.Status)
	}
}

// MakeHealthy undoes MakeUnhealthy.
func (e *Env) MakeHealthy(ctx context.Context, nodes ...*history.Object) {
	unhealthy, healthy := e.unhealthy(), "True"
	if unhealthy.Status == healthy {
		healthy = "False"
	}
	for _, node := range nodes {
		e.setCondition(ctx, node.Name, unhealthy.Type, healthy)
	}
}

func (e *Env) unhealthy() providers.NodeCondition {
	c := e.place.Adapter.Capabilities[providers.NodeRepair].Condition
	if c.Type == "" {
		e.skip("the adapter of %s names no condition by which a node becomes unhealthy", e.place.Adapter.Name)
	}
	return c
}

// setCondition sets a node's condition as of now. The other conditions stay.
func (e *Env) setCondition(ctx context.Context, node, condition, status string) {
	now := metav1.Now().UTC().Format(time.RFC3339)
	o := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "v1", "kind": "Node", "metadata": map[string]any{"name": node},
		"status": map[string]any{"conditions": []any{map[string]any{
			"type": condition, "status": status, "reason": "SetBySpec", "message": "a spec says so",
			"lastHeartbeatTime": now, "lastTransitionTime": now,
		}}},
	}}
	_, err := e.place.Client.Resource(karpenter.Nodes).
		ApplyStatus(ctx, node, o, metav1.ApplyOptions{FieldManager: fieldManager, Force: true})
	if err != nil {
		e.fail(ctx, "setting the condition %s of node %s: %w", condition, node, err)
	}
}
