package main

import (
	"context"
	"maps"
	"strings"

	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
	"sigs.k8s.io/karpenter/pkg/apis"
	v1 "sigs.k8s.io/karpenter/pkg/apis/v1"
)

// launchLies returns the lies about the NodeClaims that are made for pods.
func launchLies() map[string]lie {
	return map[string]lie{
		"launches-twice": launchesTwice(provisioning),
		"forgets-template-annotations": writes(func(claim *v1.NodeClaim) {
			maps.DeleteFunc(claim.Annotations, func(key, _ string) bool { return !strings.HasPrefix(key, apis.Group+"/") })
		}, provisioning),
		"forgets-template-taints": writes(func(claim *v1.NodeClaim) { claim.Spec.Taints = nil }, provisioning),
		"forgets-startup-taints":  writes(func(claim *v1.NodeClaim) { claim.Spec.StartupTaints = nil }, provisioning),
	}
}

// launchesTwice returns the lie that every NodeClaim that one of those
// controllers makes is made twice, as by a retry of what had succeeded.
func launchesTwice(by ...string) lie {
	return deceives(interceptor.Funcs{
		Create: func(ctx context.Context, c client.WithWatch, o client.Object, opts ...client.CreateOption) error {
			if claim, ok := o.(*v1.NodeClaim); ok && told(ctx, by...) {
				if err := c.Create(ctx, claim.DeepCopy(), opts...); err != nil {
					return err
				}
			}
			return c.Create(ctx, o, opts...)
		},
	})
}
