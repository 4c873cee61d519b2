package core

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
	"sigs.k8s.io/karpenter/pkg/apis"
	v1 "sigs.k8s.io/karpenter/pkg/apis/v1"

	"github.com/plumbline-e2e/plumbline/providers/faulty/lie"
)

// launchLies returns the lies about the NodeClaims that are created for pods.
func launchLies() map[string]lie.Lie {
	return map[string]lie.Lie{
		"launches-spares": launchesSpares(provisioning),
		"forgets-template-annotations": writes(func(claim *v1.NodeClaim) {
			maps.DeleteFunc(claim.Annotations, func(key, _ string) bool { return !strings.HasPrefix(key, apis.Group+"/") })
		}, provisioning),
		"chooses-for-the-provider": writes(func(claim *v1.NodeClaim) {
			for i, r := range claim.Spec.Requirements {
				if r.Key == corev1.LabelTopologyZone || r.Key == corev1.LabelInstanceTypeStable {
					claim.Spec.Requirements[i].Values = r.Values[:min(1, len(r.Values))]
				}
			}
		}, provisioning),
		"stumbles-over-gone-nodes": deceives(interceptor.Funcs{
			Get: func(ctx context.Context, c client.WithWatch, key client.ObjectKey, o client.Object,
				opts ...client.GetOption,
			) error {
				err := c.Get(ctx, key, o, opts...)
				if _, ok := o.(*corev1.Node); ok && apierrors.IsNotFound(err) && told(ctx, provisioning) {
					return fmt.Errorf("node %s is gone", key.Name)
				}
				return err
			},
		}),
		"forgets-template-taints": writes(func(claim *v1.NodeClaim) { claim.Spec.Taints = nil }, provisioning),
		"forgets-startup-taints":  writes(func(claim *v1.NodeClaim) { claim.Spec.StartupTaints = nil }, provisioning),
	}
}

// launchesSpares returns a lie: each NodeClaim of a controller comes with a spare, which
// cannot be launched and is deleted. A spec that waits for a count still passes, so only the
// recording shows the spare.
func launchesSpares(by string) lie.Lie {
	return deceives(interceptor.Funcs{
		Create: func(ctx context.Context, c client.WithWatch, o client.Object, opts ...client.CreateOption) error {
			claim, ok := o.(*v1.NodeClaim)
			if !ok || !told(ctx, by) {
				return c.Create(ctx, o, opts...)
			}
			spare := claim.DeepCopy()
			spare.Spec.NodeClassRef.Name = "nowhere"
			return errors.Join(c.Create(ctx, o, opts...), c.Create(ctx, spare, opts...))
		},
	})
}
