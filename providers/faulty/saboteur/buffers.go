package saboteur

import (
	"context"
	"time"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	v1 "sigs.k8s.io/karpenter/pkg/apis/v1"

	"github.com/plumbline-e2e/plumbline/providers/faulty/lie"
)

// noticed is how long removesEmpty waits before it looks for pods on a node.
const noticed = 8 * time.Second

// bufferLies returns the lies about empty nodes that should stay.
func bufferLies() map[string]lie.Lie {
	return map[string]lie.Lie{
		"removes-room":            claimLie(ofPools(removesEmpty)),
		"closes-room":             claimLie(ofPools(closesEmpty)),
		"removes-idle-standalone": claimLie(standalone(removesEmpty)),
	}
}

// ofPools limits an act to NodeClaims with a NodePool.
func ofPools(answer act[*v1.NodeClaim]) act[*v1.NodeClaim] {
	return func(ctx context.Context, c client.Client, claim *v1.NodeClaim) (bool, error) {
		if claim.Labels[v1.NodePoolLabelKey] == "" {
			return true, nil
		}
		return answer(ctx, c, claim)
	}
}

// removesEmpty deletes a NodeClaim whose node is empty soon after it is initialized.
func removesEmpty(ctx context.Context, c client.Client, claim *v1.NodeClaim) (bool, error) {
	if !alive(claim) {
		return false, nil
	}
	pause(ctx, noticed)
	pods, err := podsOn(ctx, c, claim.Status.NodeName)
	if err != nil || len(pods) > 0 {
		return true, err
	}
	return true, c.Delete(ctx, claim)
}

// closesEmpty cordons a node that is initialized before any pod selects a NodePool.
func closesEmpty(ctx context.Context, c client.Client, claim *v1.NodeClaim) (bool, error) {
	if !alive(claim) {
		return false, nil
	}
	pods := &corev1.PodList{}
	if err := c.List(ctx, pods); err != nil {
		return false, err
	}
	for i := range pods.Items {
		if pods.Items[i].Spec.NodeSelector[v1.NodePoolLabelKey] != "" {
			return true, nil
		}
	}
	return true, change(ctx, c, nodeOf(claim), func(node *corev1.Node) { node.Spec.Unschedulable = true })
}
