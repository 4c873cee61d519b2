package e2e

import (
	"context"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
	"github.com/plumbline-e2e/plumbline/providers"
)

// Toleration is how long the provider leaves an unhealthy node alone before it
// repairs it, as the adapter says.
func (e *Env) Toleration() time.Duration {
	return e.session.Adapter.Capabilities[providers.NodeRepair].Toleration
}

// Break makes nodes unhealthy: by the condition that the adapter's capability
// nodeRepair names, or else by its hook breakNode.
func (e *Env) Break(ctx context.Context, nodes ...string) {
	condition := e.session.Adapter.Capabilities[providers.NodeRepair].Condition
	for _, node := range nodes {
		if condition.Type == "" {
			e.Hook(ctx, providers.BreakNode, providers.HookValues{NodeName: node})
			continue
		}
		if err := e.setCondition(ctx, node, condition.Type, condition.Status); err != nil {
			e.fail(ctx, "making node %s unhealthy: %w", node, err)
		}
	}
}

// Mend takes Break back, where that set a condition.
func (e *Env) Mend(ctx context.Context, node string) {
	condition := e.session.Adapter.Capabilities[providers.NodeRepair].Condition
	if condition.Type == "" {
		e.skip("the adapter of %s names no condition that makes a node unhealthy, and healthy again", e.session.Adapter.Name)
	}
	if err := e.setCondition(ctx, node, condition.Type, opposite(condition.Status)); err != nil {
		e.fail(ctx, "making node %s healthy: %w", node, err)
	}
}

func opposite(status string) string {
	if status == "True" {
		return "False"
	}
	return "True"
}

// setCondition gives a node a condition, as of now, and leaves its others alone.
func (e *Env) setCondition(ctx context.Context, node, condition, status string) error {
	now := metav1.Now().UTC().Format(time.RFC3339)
	o := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "v1", "kind": "Node", "metadata": map[string]any{"name": node},
		"status": map[string]any{"conditions": []any{map[string]any{
			"type": condition, "status": status, "reason": "SetBySpec", "message": "a spec says so",
			"lastHeartbeatTime": now, "lastTransitionTime": now,
		}}},
	}}
	_, err := e.session.client.Resource(karpenter.Nodes).
		ApplyStatus(ctx, node, o, metav1.ApplyOptions{FieldManager: fieldManager, Force: true})
	return err
}
