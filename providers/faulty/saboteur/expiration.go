package saboteur

import (
	"context"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"
	v1 "sigs.k8s.io/karpenter/pkg/apis/v1"
)

// expiresEarly deletes a NodeClaim that has an expireAfter as soon as it is initialized.
func expiresEarly(ctx context.Context, c client.Client, claim *v1.NodeClaim) (bool, error) {
	if !alive(claim) || claim.Spec.ExpireAfter.Duration == nil {
		return false, nil
	}
	return true, c.Delete(ctx, claim)
}

// expiresWhatNeverShould deletes all NodeClaims that never expire when another one is deleted.
func expiresWhatNeverShould(ctx context.Context, c client.Client, claim *v1.NodeClaim) (bool, error) {
	if claim.DeletionTimestamp.IsZero() || claim.Spec.ExpireAfter.Duration == nil {
		return false, nil
	}
	claims := &v1.NodeClaimList{}
	if err := c.List(ctx, claims); err != nil {
		return false, err
	}
	for i := range claims.Items {
		if claims.Items[i].Spec.ExpireAfter.Duration != nil {
			continue
		}
		if err := c.Delete(ctx, &claims.Items[i]); err != nil {
			return false, err
		}
	}
	return true, nil
}

// appliesNewAgesToOld deletes NodeClaims by their pool's current expireAfter instead of their
// own, as Karpenter did before v1.
func appliesNewAgesToOld(ctx context.Context, c client.Client) error {
	return follow(ctx, c, &v1.NodePoolList{}, func(ctx context.Context, c client.Client, pool *v1.NodePool) (bool, error) {
		age := pool.Spec.Template.Spec.ExpireAfter.Duration
		if age == nil || !pool.DeletionTimestamp.IsZero() {
			return false, nil
		}
		claims, err := claimsOf(ctx, c, pool)
		if err != nil {
			return false, err
		}
		for i := range claims {
			claim := &claims[i]
			if old := claim.Spec.ExpireAfter.Duration; old != nil && *old <= *age {
				continue
			}
			pause(ctx, time.Until(claim.CreationTimestamp.Add(*age)))
			if err := c.Delete(ctx, claim); err != nil {
				return false, err
			}
		}
		return false, nil
	})
}
