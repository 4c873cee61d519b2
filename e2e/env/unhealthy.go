package env

import (
	"cmp"
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
	return e.place.Adapter.Capabilities[providers.NodeRepair].Toleration + e.ahead(providers.NodeRepair)
}

// ahead returns by how much the condition of an unhealthy node is dated ahead. Karpenter counts the
// toleration from that date. Some providers tolerate nothing at all: a first node would be replaced
// before a second one is marked.
func (e *Env) ahead(c providers.Capability) time.Duration {
	return max(0, leastToleration-e.place.Adapter.Capabilities[c].Toleration)
}

// Unhealthy matches nodes with the condition that MakeUnhealthy sets.
func (e *Env) Unhealthy() check.Predicate { return faulty(e.fault(providers.NodeRepair)) }

// MakeUnhealthy sets the condition that the adapter's capability nodeRepair names on nodes.
// All of them are unhealthy since the same time. If it is Ready, which kubelets report, their
// kubelets go silent. The spec is skipped if it names none.
func (e *Env) MakeUnhealthy(ctx context.Context, nodes ...*history.Object) {
	e.breakNodes(ctx, providers.NodeRepair, nodes)
}

// MakeHealthy undoes MakeUnhealthy.
func (e *Env) MakeHealthy(ctx context.Context, nodes ...*history.Object) {
	e.mendNodes(ctx, providers.NodeRepair, nodes)
}

// RebootRequired matches nodes with the condition that RequireReboot sets.
func (e *Env) RebootRequired() check.Predicate { return faulty(e.fault(providers.NodeReboot)) }

// RequireReboot sets the condition that the adapter's capability nodeReboot names on nodes, as
// MakeUnhealthy does for nodeRepair. The provider tolerates it for as long as the adapter says, but
// at least leastToleration.
func (e *Env) RequireReboot(ctx context.Context, nodes ...*history.Object) {
	e.breakNodes(ctx, providers.NodeReboot, nodes)
}

// RequireNoReboot undoes RequireReboot, as a reboot does that clears the fault.
func (e *Env) RequireNoReboot(ctx context.Context, nodes ...*history.Object) {
	e.mendNodes(ctx, providers.NodeReboot, nodes)
}

// breakNodes sets a capability's condition on nodes.
func (e *Env) breakNodes(ctx context.Context, c providers.Capability, nodes []*history.Object) {
	fault, since := e.fault(c), time.Now().Add(e.ahead(c))
	for _, node := range nodes {
		if fault.Type == karpenter.Ready {
			e.patch(ctx, node, fixtures.NoKubelet)
		}
		e.setCondition(ctx, node.Name, fault, since)
	}
}

// mendNodes sets the opposite of a capability's condition on nodes.
func (e *Env) mendNodes(ctx context.Context, c providers.Capability, nodes []*history.Object) {
	fault := e.fault(c)
	mended := providers.NodeCondition{Type: fault.Type, Status: "True"}
	if fault.Status == mended.Status {
		mended.Status = "False"
	}
	for _, node := range nodes {
		if fault.Type == karpenter.Ready {
			e.patch(ctx, node, fixtures.AKubelet)
		}
		e.setCondition(ctx, node.Name, mended, time.Now())
	}
}

// fault returns the condition that the adapter names for a capability.
func (e *Env) fault(c providers.Capability) providers.NodeCondition {
	fault := e.place.Adapter.Capabilities[c].Condition
	if fault.Type == "" {
		e.skip("the adapter of %s names no condition of a node for %s", e.place.Adapter.Name, c)
	}
	return fault
}

// faulty matches nodes with a condition, whatever its reason.
func faulty(fault providers.NodeCondition) check.Predicate {
	return func(node *unstructured.Unstructured) bool {
		c, found := karpenter.Condition(node, fault.Type)
		return found && string(c.Status) == fault.Status
	}
}

// setBySpec is the reason of conditions for which the adapter names none.
const setBySpec = "SetBySpec"

// setCondition sets a node's condition as of a time. The other conditions stay, those of other faults
// included: each has a field manager of its own.
func (e *Env) setCondition(ctx context.Context, node string, c providers.NodeCondition, since time.Time) {
	o := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "v1", "kind": "Node", "metadata": map[string]any{"name": node},
		"status": map[string]any{"conditions": []any{map[string]any{
			"type": c.Type, "status": c.Status, "reason": cmp.Or(c.Reason, setBySpec), "message": "a spec says so",
			"lastHeartbeatTime":  time.Now().UTC().Format(time.RFC3339),
			"lastTransitionTime": since.UTC().Format(time.RFC3339),
		}}},
	}}
	_, err := e.place.Client.Resource(karpenter.Nodes).
		ApplyStatus(ctx, node, o, metav1.ApplyOptions{FieldManager: fieldManager + "-" + c.Type, Force: true})
	if err != nil {
		e.fail(ctx, "setting the condition %s of node %s: %w", c.Type, node, err)
	}
}
