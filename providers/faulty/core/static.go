package core

import (
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
	v1 "sigs.k8s.io/karpenter/pkg/apis/v1"
	"sigs.k8s.io/karpenter/pkg/controllers/provisioning/scheduling"

	"github.com/plumbline-e2e/plumbline/providers/faulty/lie"
)

// The names of core's controllers that handle static pools differently.
const (
	growing   = "static.provisioning"
	shrinking = "static.deprovisioning"
	marking   = "nodeclaim.disruption" // sets Drifted and Consolidatable
)

// staticLies returns the lies about pools with replicas.
func staticLies() map[string]lie.Lie {
	return map[string]lie.Lie{
		"launches-spares-for-replicas":   launchesSpares(growing),
		"ignores-limits-of-static-pools": reads(func(pool *v1.NodePool) { pool.Spec.Limits = nil }, growing),
		"shrinks-by-one-too-many":        shrinksTooFar(),
		"gives-up-nodes-with-pods":       givesUpFirst(func(*corev1.Pod) bool { return true }),
		"gives-up-protected-nodes": givesUpFirst(func(pod *corev1.Pod) bool {
			return pod.Annotations[v1.DoNotDisruptAnnotationKey] == "true"
		}),
		"exceeds-limits-by-drift":        reads(func(pool *v1.NodePool) { pool.Spec.Limits = nil }, disrupting),
		"forgets-taints-of-static-pools": writes(func(claim *v1.NodeClaim) { claim.Spec.Taints = nil }, growing),
		"consolidates-static-pools":      reads(func(pool *v1.NodePool) { pool.Spec.Replicas = nil }, disrupting, marking),
		"overlooks-pools-that-are-late":  overlooksLatePools(),
		"launches-before-it-terminates":  launchesFirst(),
	}
}

// shrinksTooFar returns a lie: a pool that was changed has one node less than its replicas,
// until it grows again.
func shrinksTooFar() lie.Lie {
	return reads(func(pool *v1.NodePool) {
		if n := pool.Spec.Replicas; pool.Generation > 1 && n != nil && *n > 0 {
			pool.Spec.Replicas = new(*n - 1)
		}
	}, shrinking)
}

// overlooksLatePools returns a lie: a pool that became ready some time after it was created has
// no nodes, as if the event had been missed.
func overlooksLatePools() lie.Lie {
	return reads(func(pool *v1.NodePool) {
		ready := pool.StatusConditions().Root()
		if ready.IsTrue() && ready.LastTransitionTime.Sub(pool.CreationTimestamp.Time) > 5*time.Second {
			pool.StatusConditions().SetFalse(v1.ConditionTypeNodeClassReady, "Late", "it was not ready at first")
		}
	}, growing)
}

// launchesFirst returns a lie: when a disruption ends a node of a static pool that gets no replacement
// before, its successor is launched first.
func launchesFirst() lie.Lie {
	return deceives(interceptor.Funcs{
		Delete: func(ctx context.Context, c client.WithWatch, o client.Object, opts ...client.DeleteOption) error {
			claim, ok := o.(*v1.NodeClaim)
			if !ok || !told(ctx, replacing) {
				return c.Delete(ctx, o, opts...)
			}
			pool, err := ownPool(ctx, c, claim)
			if err != nil {
				return err
			}
			if pool.Spec.Replicas != nil {
				if err := c.Create(ctx, scheduling.NewNodeClaimTemplate(pool).ToNodeClaim()); err != nil {
					return fmt.Errorf("launching the successor of NodeClaim %s: %w", claim.Name, err)
				}
			}
			return c.Delete(ctx, o, opts...)
		},
	})
}

// givesUpFirst returns a lie: a pool that shrinks deletes nodes with such pods first.
func givesUpFirst(such func(*corev1.Pod) bool) lie.Lie {
	return deceives(interceptor.Funcs{
		Delete: func(ctx context.Context, c client.WithWatch, o client.Object, opts ...client.DeleteOption) error {
			claim, ok := o.(*v1.NodeClaim)
			if !ok || !told(ctx, shrinking) {
				return c.Delete(ctx, o, opts...)
			}
			busy, err := busyNeighbour(ctx, c, claim, such)
			if err != nil {
				return err
			}
			return c.Delete(ctx, busy, opts...)
		},
	})
}

// busyNeighbour returns a NodeClaim of the same pool whose node has such a pod, or the claim
// itself.
func busyNeighbour(ctx context.Context, c client.Client, claim *v1.NodeClaim,
	such func(*corev1.Pod) bool,
) (*v1.NodeClaim, error) {
	claims, pods := &v1.NodeClaimList{}, &corev1.PodList{}
	if err := c.List(ctx, claims,
		client.MatchingLabels{v1.NodePoolLabelKey: claim.Labels[v1.NodePoolLabelKey]}); err != nil {
		return nil, fmt.Errorf("listing the pool's NodeClaims: %w", err)
	}
	if err := c.List(ctx, pods); err != nil {
		return nil, fmt.Errorf("listing pods: %w", err)
	}
	busy := map[string]bool{}
	for i := range pods.Items {
		if such(&pods.Items[i]) {
			busy[pods.Items[i].Spec.NodeName] = true
		}
	}
	for i := range claims.Items {
		if other := &claims.Items[i]; busy[other.Status.NodeName] && other.DeletionTimestamp.IsZero() {
			return other, nil
		}
	}
	return claim, nil
}
