package env

import (
	"context"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/e2e/history"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
	"github.com/plumbline-e2e/plumbline/fixtures"
	"github.com/plumbline-e2e/plumbline/providers"
)

// leastToleration is the shortest time for which nodes that a spec makes unhealthy are left alone.
// It suffices to mark several nodes, and to see that none is replaced meanwhile.
const leastToleration = 15 * time.Second

// Toleration returns how long the provider leaves a node alone that MakeUnhealthy has marked: as
// long as the adapter says, but at least leastToleration.
func (e *Env) Toleration() time.Duration {
	return e.place.Adapter.Capabilities[providers.NodeRepair].Toleration + e.ahead()
}

// ahead returns by how much the condition of an unhealthy node is dated ahead. Karpenter counts the
// toleration from that date. Some providers tolerate nothing at all: a first node would be replaced
// before a second one is marked.
func (e *Env) ahead() time.Duration {
	return max(0, leastToleration-e.place.Adapter.Capabilities[providers.NodeRepair].Toleration)
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
// All of them are unhealthy since the same time. If it is Ready, which kubelets report, their
// kubelets go silent. The spec is skipped if it names none.
func (e *Env) MakeUnhealthy(ctx context.Context, nodes ...*history.Object) {
	unhealthy, since := e.unhealthy(), time.Now().Add(e.ahead())
	for _, node := range nodes {
		if unhealthy.Type == karpenter.Ready {
			e.patch(ctx, node, fixtures.NoKubelet)
		}
		e.setCondition(ctx, node.Name, unhealthy.Type, unhealthy.Status, since)
	}
}

// MakeHealthy undoes MakeUnhealthy.
func (e *Env) MakeHealthy(ctx context.Context, nodes ...*history.Object) {
	unhealthy, healthy := e.unhealthy(), "True"
	if unhealthy.Status == healthy {
		healthy = "False"
	}
	for _, node := range nodes {
		if unhealthy.Type == karpenter.Ready {
			e.patch(ctx, node, fixtures.AKubelet)
		}
		e.setCondition(ctx, node.Name, unhealthy.Type, healthy, time.Now())
	}
}

func (e *Env) unhealthy() providers.NodeCondition {
	c := e.place.Adapter.Capabilities[providers.NodeRepair].Condition
	if c.Type == "" {
		e.skip("the adapter of %s names no condition by which a node becomes unhealthy", e.place.Adapter.Name)
	}
	return c
}

// setCondition sets a node's condition as of a time. The other conditions stay.
func (e *Env) setCondition(ctx context.Context, node, condition, status string, since time.Time) {
	o := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "v1", "kind": "Node", "metadata": map[string]any{"name": node},
		"status": map[string]any{"conditions": []any{map[string]any{
			"type": condition, "status": status, "reason": "SetBySpec", "message": "a spec says so",
			"lastHeartbeatTime":  time.Now().UTC().Format(time.RFC3339),
			"lastTransitionTime": since.UTC().Format(time.RFC3339),
		}}},
	}}
	_, err := e.place.Client.Resource(karpenter.Nodes).
		ApplyStatus(ctx, node, o, metav1.ApplyOptions{FieldManager: fieldManager, Force: true})
	if err != nil {
		e.fail(ctx, "setting the condition %s of node %s: %w", condition, node, err)
	}
}
