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

// chaosLies returns the lies that show when something fails beside pods and nodes:
// those about a restart tell no lie before the first one.
func chaosLies() map[string]lie.Lie {
	started := time.Now()
	return map[string]lie.Lie{
		"relaunches-after-a-restart":  claimLie(relaunches(started)),
		"ends-drains-after-a-restart": nodeLie(endsDrains(started)),
		"replaces-unready-nodes":      nodeLie(replacesUnready),
	}
}

// relaunches launches what an earlier process has launched and not seen ready.
func relaunches(started time.Time) act[*v1.NodeClaim] {
	return func(ctx context.Context, c client.Client, claim *v1.NodeClaim) (bool, error) {
		if claim.CreationTimestamp.After(started) || !claim.DeletionTimestamp.IsZero() || reached(claim, v1.ConditionTypeInitialized) {
			return true, nil
		}
		_, err := copyOf(ctx, c, claim)
		return true, err
	}
}

// endsDrains takes a drain that an earlier process began for one that is done.
func endsDrains(started time.Time) act[*corev1.Node] {
	return func(ctx context.Context, c client.Client, node *corev1.Node) (bool, error) {
		if node.CreationTimestamp.After(started) {
			return true, nil
		}
		if node.DeletionTimestamp.IsZero() || node.DeletionTimestamp.After(started) {
			return false, nil
		}
		return true, change(ctx, c, node, func(node *corev1.Node) { controllerutil.RemoveFinalizer(node, v1.TerminationFinalizer) })
	}
}

// replacesUnready ends nodes as soon as they are not ready any more.
func replacesUnready(ctx context.Context, c client.Client, node *corev1.Node) (bool, error) {
	unready := corev1.Taint{Key: corev1.TaintNodeNotReady, Effect: corev1.TaintEffectNoSchedule}
	if node.Labels[v1.NodeInitializedLabelKey] != "true" || !tainted(node, unready) || !node.DeletionTimestamp.IsZero() {
		return false, nil
	}
	return true, c.Delete(ctx, node)
}
