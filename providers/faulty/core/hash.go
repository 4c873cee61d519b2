package core

import (
	"context"
	"encoding/json"
	"fmt"

	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
	v1 "sigs.k8s.io/karpenter/pkg/apis/v1"

	"github.com/plumbline-e2e/plumbline/providers/faulty/lie"
)

// hashLies returns the lies about which fields of a pool make its nodes drift. The hash leaves
// out one that counts or includes one that does not.
func hashLies() map[string]lie.Lie {
	return map[string]lie.Lie{
		"leaves-labels-out-of-the-hash":      hashes(func(p *v1.NodePool) { p.Spec.Template.Labels = nil }),
		"leaves-annotations-out-of-the-hash": hashes(func(p *v1.NodePool) { p.Spec.Template.Annotations = nil }),
		"leaves-taints-out-of-the-hash":      hashes(func(p *v1.NodePool) { p.Spec.Template.Spec.Taints = nil }),
		"leaves-expiration-out-of-the-hash": hashes(func(p *v1.NodePool) {
			p.Spec.Template.Spec.ExpireAfter = v1.NillableDuration{}
		}),
		"leaves-grace-periods-out-of-the-hash": hashes(func(p *v1.NodePool) {
			p.Spec.Template.Spec.TerminationGracePeriod = nil
		}),
		"leaves-nodeclasses-out-of-the-hash": hashes(func(p *v1.NodePool) { p.Spec.Template.Spec.NodeClassRef = nil }),

		"takes-weights-into-the-hash":    hashes(takingIn(func(p *v1.NodePool) any { return p.Spec.Weight })),
		"takes-limits-into-the-hash":     hashes(takingIn(func(p *v1.NodePool) any { return p.Spec.Limits })),
		"takes-disruption-into-the-hash": hashes(takingIn(func(p *v1.NodePool) any { return p.Spec.Disruption })),
		"takes-requirements-into-the-hash": hashes(takingIn(func(p *v1.NodePool) any {
			return p.Spec.Template.Spec.Requirements
		})),

		"takes-labels-of-the-pool-into-the-hash": hashes(takingIn(func(p *v1.NodePool) any { return p.Labels })),
		"takes-the-order-of-taints-into-the-hash": hashes(takingIn(func(p *v1.NodePool) any {
			return p.Spec.Template.Spec.Taints
		})),
		"takes-spellings-into-the-hash": hashes(takingIn(func(p *v1.NodePool) any {
			return string(p.Spec.Template.Spec.ExpireAfter.Raw)
		})),

		"hashes-claims-by-halves": hashesByHalves(),
	}
}

// hashesByHalves returns a lie: NodeClaims get the new hash version but keep the old hash.
func hashesByHalves() lie.Lie {
	return deceives(interceptor.Funcs{
		Patch: func(ctx context.Context, c client.WithWatch, o client.Object, patch client.Patch,
			opts ...client.PatchOption,
		) error {
			if claim, ok := o.(*v1.NodeClaim); ok && told(ctx, driftHashing) {
				stored := &v1.NodeClaim{}
				if err := c.Get(ctx, client.ObjectKeyFromObject(claim), stored); err != nil {
					return err
				}
				claim.Annotations[v1.NodePoolHashAnnotationKey] = stored.Annotations[v1.NodePoolHashAnnotationKey]
			}
			return c.Patch(ctx, o, patch, opts...)
		},
	})
}

// hashes returns a lie: a pool, and the NodeClaims created from it, have the hash of a changed
// copy of the pool.
func hashes(change func(*v1.NodePool)) lie.Lie {
	hash := func(pool *v1.NodePool) string {
		pool = pool.DeepCopy()
		change(pool)
		return pool.Hash()
	}
	return deceives(interceptor.Funcs{
		Patch: func(ctx context.Context, c client.WithWatch, o client.Object, patch client.Patch,
			opts ...client.PatchOption,
		) error {
			if pool, ok := o.(*v1.NodePool); ok && told(ctx, driftHashing) {
				pool.Annotations[v1.NodePoolHashAnnotationKey] = hash(pool)
			}
			return c.Patch(ctx, o, patch, opts...)
		},
		Create: func(ctx context.Context, c client.WithWatch, o client.Object, opts ...client.CreateOption) error {
			if claim, ok := o.(*v1.NodeClaim); ok {
				pool, err := ownPool(ctx, c, claim)
				if err != nil {
					return err
				}
				claim.Annotations[v1.NodePoolHashAnnotationKey] = hash(pool)
			}
			return c.Create(ctx, o, opts...)
		},
	})
}

// takingIn copies a part of a pool to where it is hashed: the template's annotations.
func takingIn(part func(*v1.NodePool) any) func(*v1.NodePool) {
	return func(pool *v1.NodePool) {
		said, err := json.Marshal(part(pool))
		pool.Spec.Template.Annotations = map[string]string{"said": fmt.Sprint(string(said), err)}
	}
}

func ownPool(ctx context.Context, c client.Client, claim *v1.NodeClaim) (*v1.NodePool, error) {
	pool := &v1.NodePool{}
	if err := c.Get(ctx, client.ObjectKey{Name: claim.Labels[v1.NodePoolLabelKey]}, pool); err != nil {
		return nil, fmt.Errorf("reading the pool of NodeClaim %s%s: %w", claim.GenerateName, claim.Name, err)
	}
	return pool, nil
}
