package saboteur

import (
	"context"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	v1 "sigs.k8s.io/karpenter/pkg/apis/v1"

	"github.com/plumbline-e2e/plumbline/providers/faulty/lie"
)

// claimLie returns a lie whose sabotage follows NodeClaims.
func claimLie(answer act[*v1.NodeClaim]) lie.Lie {
	return lie.Lie{Sabotage: func(ctx context.Context, c client.Client) error {
		return follow(ctx, c, &v1.NodeClaimList{}, answer)
	}}
}

// nodeLie returns a lie whose sabotage follows nodes.
func nodeLie(answer act[*corev1.Node]) lie.Lie {
	return lie.Lie{Sabotage: func(ctx context.Context, c client.Client) error {
		return follow(ctx, c, &corev1.NodeList{}, answer)
	}}
}

// nodeOf returns the node of a NodeClaim with its name only; change reads the rest.
func nodeOf(claim *v1.NodeClaim) *corev1.Node {
	return &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: claim.Status.NodeName}}
}

func poolOf(ctx context.Context, c client.Client, claim *v1.NodeClaim) (*v1.NodePool, error) {
	pool := &v1.NodePool{}
	if err := c.Get(ctx, client.ObjectKey{Name: claim.Labels[v1.NodePoolLabelKey]}, pool); err != nil {
		return nil, fmt.Errorf("reading the pool of %s: %w", claim.Name, err)
	}
	return pool, nil
}

func claimsOf(ctx context.Context, c client.Client, pool *v1.NodePool) ([]v1.NodeClaim, error) {
	claims := &v1.NodeClaimList{}
	if err := c.List(ctx, claims, client.MatchingLabels{v1.NodePoolLabelKey: pool.Name}); err != nil {
		return nil, fmt.Errorf("listing the NodeClaims of %s: %w", pool.Name, err)
	}
	return claims.Items, nil
}

// podsOn returns the pods on a node that are not being deleted.
func podsOn(ctx context.Context, c client.Client, node string) ([]corev1.Pod, error) {
	pods := &corev1.PodList{}
	if err := c.List(ctx, pods, client.MatchingFields{"spec.nodeName": node}); err != nil {
		return nil, fmt.Errorf("listing the pods on %s: %w", node, err)
	}
	return slices.DeleteFunc(pods.Items, func(p corev1.Pod) bool { return !p.DeletionTimestamp.IsZero() }), nil
}

// protected reports whether a pod has the annotation do-not-disrupt.
func protected(pod *corev1.Pod) bool { return pod.Annotations[v1.DoNotDisruptAnnotationKey] == "true" }

func daemon(pod *corev1.Pod) bool {
	return slices.ContainsFunc(pod.OwnerReferences, func(o metav1.OwnerReference) bool { return o.Kind == "DaemonSet" })
}

func tainted(node *corev1.Node, taint corev1.Taint) bool {
	return slices.ContainsFunc(node.Spec.Taints, func(t corev1.Taint) bool { return t.MatchTaint(&taint) })
}

// untaint returns a change that removes taints from a node.
func untaint(taints ...corev1.Taint) func(*corev1.Node) {
	return func(node *corev1.Node) {
		node.Spec.Taints = slices.DeleteFunc(node.Spec.Taints, func(t corev1.Taint) bool {
			return slices.ContainsFunc(taints, func(other corev1.Taint) bool { return t.MatchTaint(&other) })
		})
	}
}

// taint returns a change that adds missing taints to a node.
func taint(taints ...corev1.Taint) func(*corev1.Node) {
	return func(node *corev1.Node) {
		for _, t := range taints {
			if !tainted(node, t) {
				node.Spec.Taints = append(node.Spec.Taints, t)
			}
		}
	}
}

// copyOf creates a copy of a NodeClaim, as its pool would.
func copyOf(ctx context.Context, c client.Client, claim *v1.NodeClaim) (*v1.NodeClaim, error) {
	another := &v1.NodeClaim{
		ObjectMeta: metav1.ObjectMeta{
			GenerateName:    claim.Labels[v1.NodePoolLabelKey] + "-",
			Labels:          map[string]string{v1.NodePoolLabelKey: claim.Labels[v1.NodePoolLabelKey]},
			Annotations:     claim.Annotations,
			OwnerReferences: claim.OwnerReferences,
		},
		Spec: claim.Spec,
	}
	if err := c.Create(ctx, another); err != nil {
		return nil, fmt.Errorf("copying NodeClaim %s: %w", claim.Name, err)
	}
	return another, nil
}
