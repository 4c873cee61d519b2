package core

import (
	"context"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
	v1 "sigs.k8s.io/karpenter/pkg/apis/v1"

	"github.com/plumbline-e2e/plumbline/providers/faulty/lie"
)

// driftLies returns the lies about how drifted nodes are replaced.
func driftLies() map[string]lie.Lie {
	return map[string]lie.Lie{
		"takes-replacements-for-ready": deceives(interceptor.Funcs{
			Get: func(ctx context.Context, c client.WithWatch, key client.ObjectKey, o client.Object,
				opts ...client.GetOption,
			) error {
				err := c.Get(ctx, key, o, opts...)
				if claim, ok := o.(*v1.NodeClaim); ok && told(ctx, replacing) {
					claim.StatusConditions().SetTrue(v1.ConditionTypeInitialized)
					return client.IgnoreNotFound(err) // even if there is no such NodeClaim yet
				}
				return err
			},
		}),
		"acts-on-no-drift": reads(func(claim *v1.NodeClaim) {
			_ = claim.StatusConditions().Clear(v1.ConditionTypeDrifted) // Ready doesn't depend on it
		}, remembering),
		"begins-with-the-latest-drift": reads(beginWithTheLatest, remembering),
		"launches-two-replacements":    launchesTwo(),
		"replaces-by-a-stale-pool":     staleTemplates(),
		"never-forgets-drift":          neverForgetsDrift(),
		"overlooks-do-not-disrupt-on-nodes": reads(func(node *corev1.Node) {
			delete(node.Annotations, v1.DoNotDisruptAnnotationKey)
		}, rememberingNodes),
	}
}

// beginWithTheLatest turns the order around in which NodeClaims have drifted.
func beginWithTheLatest(claim *v1.NodeClaim) {
	for i := range claim.Status.Conditions {
		if c := &claim.Status.Conditions[i]; c.Type == v1.ConditionTypeDrifted {
			c.LastTransitionTime.Time = time.Unix(-c.LastTransitionTime.Unix(), 0)
		}
	}
}

// neverForgetsDrift returns a lie: a NodeClaim that has drifted stays drifted.
func neverForgetsDrift() lie.Lie {
	return deceives(interceptor.Funcs{
		SubResourcePatch: func(ctx context.Context, c client.Client, name string, o client.Object, patch client.Patch,
			opts ...client.SubResourcePatchOption,
		) error {
			claim, ok := o.(*v1.NodeClaim)
			if !ok || !told(ctx, marking) || claim.StatusConditions().Get(v1.ConditionTypeDrifted) != nil {
				return c.SubResource(name).Patch(ctx, o, patch, opts...)
			}
			stored := &v1.NodeClaim{}
			if err := c.Get(ctx, client.ObjectKeyFromObject(claim), stored); err != nil {
				return err
			}
			if stored.StatusConditions().Get(v1.ConditionTypeDrifted) != nil {
				return nil
			}
			return c.SubResource(name).Patch(ctx, o, patch, opts...)
		},
	})
}

// staleTemplates returns a lie: nodes are launched from the first template of a pool that core
// has read.
func staleTemplates() lie.Lie {
	var first sync.Map
	return reads(func(pool *v1.NodePool) {
		template, _ := first.LoadOrStore(pool.UID, pool.Spec.Template.DeepCopy())
		pool.Spec.Template = *template.(*v1.NodeClaimTemplate).DeepCopy()
	}, provisioning, disrupting)
}

// launchesTwo returns a lie: every replacement is created twice, as by a wrong retry.
func launchesTwo() lie.Lie {
	return deceives(interceptor.Funcs{
		Create: func(ctx context.Context, c client.WithWatch, o client.Object, opts ...client.CreateOption) error {
			if claim, ok := o.(*v1.NodeClaim); ok && told(ctx, disrupting) {
				if err := c.Create(ctx, claim.DeepCopy(), opts...); err != nil {
					return err
				}
			}
			return c.Create(ctx, o, opts...)
		},
	})
}
