package core

import (
	"context"
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
	v1 "sigs.k8s.io/karpenter/pkg/apis/v1"

	"github.com/plumbline-e2e/plumbline/providers/faulty/lie"
)

// expirationLies returns the lies about when nodes expire.
func expirationLies() map[string]lie.Lie {
	return map[string]lie.Lie{
		"never-expires": leavesOut(expiring),
		"expires-at-half-the-age": ages(func(age *time.Duration) *time.Duration {
			if age == nil {
				return nil
			}
			return new(*age / 2)
		}),
		"expires-what-never-expires": ages(func(age *time.Duration) *time.Duration {
			if age == nil {
				return new(30 * time.Second)
			}
			return age
		}),
		"expires-by-the-age-of-the-pool": expiresByPool(),
		"lets-budgets-hold-expiration":   heldByBudgets(),
		"lets-limits-hold-expiration":    heldByLimits(),
		"lets-nodes-refuse-expiration":   heldByNodes(),
	}
}

// ages returns a lie that changes the age at which nodes expire. Nil means never.
func ages(other func(*time.Duration) *time.Duration) lie.Lie {
	return reads(func(claim *v1.NodeClaim) {
		claim.Spec.ExpireAfter.Duration = other(claim.Spec.ExpireAfter.Duration)
	}, expiring)
}

// expiresByPool returns a lie: nodes expire by their pool's current expireAfter, as before v1.
func expiresByPool() lie.Lie {
	return deceives(interceptor.Funcs{
		Get: func(ctx context.Context, c client.WithWatch, key client.ObjectKey, o client.Object,
			opts ...client.GetOption,
		) error {
			if err := c.Get(ctx, key, o, opts...); err != nil {
				return err
			}
			claim, ok := o.(*v1.NodeClaim)
			if !ok || !told(ctx, expiring) {
				return nil
			}
			pool, err := ownPool(ctx, c, claim)
			if err != nil {
				return err
			}
			claim.Spec.ExpireAfter = pool.Spec.Template.Spec.ExpireAfter
			return nil
		},
	})
}

// heldByBudgets returns a lie: nothing expires in a pool with a budget of zero. Before v1,
// expiration respected budgets.
func heldByBudgets() lie.Lie {
	return held(func(ctx context.Context, c client.Client, claim *v1.NodeClaim) (bool, error) {
		pool, err := ownPool(ctx, c, claim)
		if err != nil {
			return false, err
		}
		return slices.ContainsFunc(pool.Spec.Disruption.Budgets, func(b v1.Budget) bool { return b.Nodes == "0" }), nil
	})
}

// heldByLimits returns a lie: nothing expires in a pool with a CPU limit of zero. Before v1, a
// replacement was launched first.
func heldByLimits() lie.Lie {
	return held(func(ctx context.Context, c client.Client, claim *v1.NodeClaim) (bool, error) {
		pool, err := ownPool(ctx, c, claim)
		if err != nil {
			return false, err
		}
		cpu, limited := pool.Spec.Limits[corev1.ResourceCPU]
		return limited && cpu.IsZero(), nil
	})
}

// heldByNodes returns a lie: a do-not-disrupt node does not expire.
func heldByNodes() lie.Lie {
	return held(func(ctx context.Context, c client.Client, claim *v1.NodeClaim) (bool, error) {
		node := &corev1.Node{}
		if err := c.Get(ctx, client.ObjectKey{Name: claim.Status.NodeName}, node); err != nil {
			return false, fmt.Errorf("reading the node of NodeClaim %s: %w", claim.Name, err)
		}
		return node.Annotations[v1.DoNotDisruptAnnotationKey] == "true", nil
	})
}

// held returns a lie: NodeClaims are not deleted on expiration if by returns true.
func held(by func(context.Context, client.Client, *v1.NodeClaim) (bool, error)) lie.Lie {
	return deceives(interceptor.Funcs{
		Delete: func(ctx context.Context, c client.WithWatch, o client.Object, opts ...client.DeleteOption) error {
			claim, ok := o.(*v1.NodeClaim)
			if !ok || !told(ctx, expiring) {
				return c.Delete(ctx, o, opts...)
			}
			if stays, err := by(ctx, c, claim); stays || err != nil {
				return err
			}
			return c.Delete(ctx, o, opts...)
		},
	})
}
