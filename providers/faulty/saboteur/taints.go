package saboteur

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	v1 "sigs.k8s.io/karpenter/pkg/apis/v1"
)

// untaintsDrainingNodes removes the disrupted taint from a node that is being drained.
func untaintsDrainingNodes(ctx context.Context, c client.Client, node *corev1.Node) (bool, error) {
	if node.DeletionTimestamp.IsZero() || !tainted(node, v1.DisruptedNoScheduleTaint) {
		return false, nil
	}
	return true, change(ctx, c, node, untaint(v1.DisruptedNoScheduleTaint))
}

// untaintsDisruptedNodes removes the disrupted taint from a node that is disrupted, while its
// replacement starts.
func untaintsDisruptedNodes(ctx context.Context, c client.Client, claim *v1.NodeClaim) (bool, error) {
	if !alive(claim) || !reached(claim, v1.ConditionTypeDisruptionReason) {
		return false, nil
	}
	return true, change(ctx, c, nodeOf(claim), untaint(v1.DisruptedNoScheduleTaint))
}

// stripsUnregisteredTaints removes the unregistered taint from a node that is not registered.
func stripsUnregisteredTaints(ctx context.Context, c client.Client, node *corev1.Node) (bool, error) {
	if node.Labels[v1.NodeRegisteredLabelKey] != "" || !tainted(node, v1.UnregisteredNoExecuteTaint) {
		return false, nil
	}
	return true, change(ctx, c, node, func(node *corev1.Node) {
		if node.Labels[v1.NodeRegisteredLabelKey] == "" {
			untaint(v1.UnregisteredNoExecuteTaint)(node)
		}
	})
}

// restoresStartupTaints puts the startup taints back on an initialized node.
func restoresStartupTaints(ctx context.Context, c client.Client, claim *v1.NodeClaim) (bool, error) {
	if !alive(claim) || len(claim.Spec.StartupTaints) == 0 {
		return false, nil
	}
	return true, change(ctx, c, nodeOf(claim), taint(claim.Spec.StartupTaints...))
}

// liftsTemplateTaints removes the template's taints from an initialized node.
func liftsTemplateTaints(ctx context.Context, c client.Client, claim *v1.NodeClaim) (bool, error) {
	if !alive(claim) || len(claim.Spec.Taints) == 0 {
		return false, nil
	}
	return true, change(ctx, c, nodeOf(claim), untaint(claim.Spec.Taints...))
}

// initializesEarly marks a registered node as initialized although it has startup taints.
func initializesEarly(ctx context.Context, c client.Client, claim *v1.NodeClaim) (bool, error) {
	if !claim.DeletionTimestamp.IsZero() || !reached(claim, v1.ConditionTypeRegistered) ||
		len(claim.Spec.StartupTaints) == 0 {
		return false, nil
	}
	err := change(ctx, c, nodeOf(claim), func(node *corev1.Node) { node.Labels[v1.NodeInitializedLabelKey] = "true" })
	if err != nil {
		return false, err
	}
	return true, changeStatus(ctx, c, claim, func(claim *v1.NodeClaim) {
		claim.StatusConditions().SetTrue(v1.ConditionTypeInitialized)
	})
}
