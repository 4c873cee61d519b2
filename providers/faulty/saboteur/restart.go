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

// chaosLies returns the lies about failures other than of pods and nodes. Those about a
// restart do nothing before the first restart.
func chaosLies() map[string]lie.Lie {
	started := time.Now()
	return map[string]lie.Lie{
		"relaunches-after-a-restart":  claimLie(relaunches(started)),
		"ends-drains-after-a-restart": nodeLie(endsDrains(started)),
		"replaces-unready-nodes":      nodeLie(replacesUnready),
	}
}

// relaunches copies NodeClaims from before the restart that are not initialized.
func relaunches(started time.Time) act[*v1.NodeClaim] {
	return func(ctx context.Context, c client.Client, claim *v1.NodeClaim) (bool, error) {
		if claim.CreationTimestamp.After(started) || !claim.DeletionTimestamp.IsZero() ||
			reached(claim, v1.ConditionTypeInitialized) {
			return true, nil
		}
		_, err := copyOf(ctx, c, claim)
		return true, err
	}
}

// endsDrains removes the finalizer of nodes whose drain began before the restart.
func endsDrains(started time.Time) act[*corev1.Node] {
	return func(ctx context.Context, c client.Client, node *corev1.Node) (bool, error) {
		if node.CreationTimestamp.After(started) {
			return true, nil
		}
		if node.DeletionTimestamp.IsZero() || node.DeletionTimestamp.After(started) {
			return false, nil
		}
		return true, change(ctx, c, node, func(node *corev1.Node) {
			controllerutil.RemoveFinalizer(node, v1.TerminationFinalizer)
		})
	}
}

// replacesUnready deletes an initialized node as soon as it is tainted as not ready.
func replacesUnready(ctx context.Context, c client.Client, node *corev1.Node) (bool, error) {
	unready := corev1.Taint{Key: corev1.TaintNodeNotReady, Effect: corev1.TaintEffectNoSchedule}
	if node.Labels[v1.NodeInitializedLabelKey] != "true" || !tainted(node, unready) || !node.DeletionTimestamp.IsZero() {
		return false, nil
	}
	return true, c.Delete(ctx, node)
}
