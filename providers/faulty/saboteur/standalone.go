package saboteur

import (
	"context"
	"time"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	v1 "sigs.k8s.io/karpenter/pkg/apis/v1"

	"github.com/plumbline-e2e/plumbline/providers/faulty/lie"
)

// standaloneLies returns the lies about NodeClaims without a NodePool.
func standaloneLies() map[string]lie.Lie {
	return map[string]lie.Lie{
		"collects-standalone-claims":     claimLie(standalone(collectsOrphans)),
		"initializes-before-registering": claimLie(standalone(initializesUnregistered)),
		"lets-standalone-claims-go":      claimLie(standalone(dropsClaimFinalizers)),
		"lets-standalone-nodes-go":       claimLie(standalone(freesNodes)),
		"expires-standalone-early":       claimLie(standalone(expiresEarly)),
		"hurries-standalone-drains":      claimLie(standalone(hurriesDrains)),
	}
}

// standalone limits an act to NodeClaims without a NodePool.
func standalone(answer act[*v1.NodeClaim]) act[*v1.NodeClaim] {
	return func(ctx context.Context, c client.Client, claim *v1.NodeClaim) (bool, error) {
		if claim.Labels[v1.NodePoolLabelKey] != "" {
			return true, nil
		}
		return answer(ctx, c, claim)
	}
}

// collectsOrphans deletes a NodeClaim without a NodePool, as if its NodePool were deleted.
func collectsOrphans(ctx context.Context, c client.Client, claim *v1.NodeClaim) (bool, error) {
	if !alive(claim) {
		return false, nil
	}
	return true, c.Delete(ctx, claim)
}

// initializesUnregistered marks a NodeClaim as initialized as soon as it is launched.
func initializesUnregistered(ctx context.Context, c client.Client, claim *v1.NodeClaim) (bool, error) {
	if !claim.DeletionTimestamp.IsZero() || !reached(claim, v1.ConditionTypeLaunched) {
		return false, nil
	}
	return true, changeStatus(ctx, c, claim, func(claim *v1.NodeClaim) {
		claim.StatusConditions().SetTrue(v1.ConditionTypeInitialized)
	})
}

// freesNodes removes a node's finalizer when its drain begins.
func freesNodes(ctx context.Context, c client.Client, claim *v1.NodeClaim) (bool, error) {
	if claim.DeletionTimestamp.IsZero() || claim.StatusConditions().Get(v1.ConditionTypeDrained) == nil {
		return false, nil
	}
	return true, change(ctx, c, nodeOf(claim), func(node *corev1.Node) {
		controllerutil.RemoveFinalizer(node, v1.TerminationFinalizer)
	})
}

// hurriesDrains sets the end of a drain to now, as soon as core has set it.
func hurriesDrains(ctx context.Context, c client.Client, claim *v1.NodeClaim) (bool, error) {
	if claim.DeletionTimestamp.IsZero() || claim.Annotations[v1.NodeClaimTerminationTimestampAnnotationKey] == "" {
		return false, nil
	}
	now := time.Now().Format(time.RFC3339)
	return true, change(ctx, c, claim, func(claim *v1.NodeClaim) {
		claim.Annotations[v1.NodeClaimTerminationTimestampAnnotationKey] = now
	})
}
