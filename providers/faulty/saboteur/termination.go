package saboteur

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	v1 "sigs.k8s.io/karpenter/pkg/apis/v1"
)

// saysItEndsAtOnce sets InstanceTerminating on a NodeClaim when its drain begins, while its
// pods still run.
func saysItEndsAtOnce(ctx context.Context, c client.Client, claim *v1.NodeClaim) (bool, error) {
	if claim.DeletionTimestamp.IsZero() || claim.StatusConditions().Get(v1.ConditionTypeDrained) == nil {
		return false, nil
	}
	return true, changeStatus(ctx, c, claim, func(claim *v1.NodeClaim) {
		claim.StatusConditions().SetTrue(v1.ConditionTypeInstanceTerminating)
	})
}

// deletesTheRest deletes all nodes of a pool when one is deleted.
func deletesTheRest(ctx context.Context, c client.Client, node *corev1.Node) (bool, error) {
	if node.DeletionTimestamp.IsZero() {
		return false, nil
	}
	nodes := &corev1.NodeList{}
	if err := c.List(ctx, nodes,
		client.MatchingLabels{v1.NodePoolLabelKey: node.Labels[v1.NodePoolLabelKey]}); err != nil {
		return false, fmt.Errorf("listing the nodes of a pool: %w", err)
	}
	for i := range nodes.Items {
		if err := c.Delete(ctx, &nodes.Items[i]); err != nil {
			return false, fmt.Errorf("deleting node %s: %w", nodes.Items[i].Name, err)
		}
	}
	return true, nil
}
