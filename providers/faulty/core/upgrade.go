package core

import (
	"context"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
	autoscaling "sigs.k8s.io/karpenter/pkg/apis/autoscaling/v1beta1"
	v1 "sigs.k8s.io/karpenter/pkg/apis/v1"

	"github.com/plumbline-e2e/plumbline/providers/faulty/lie"
)

// UpgradeLies returns the lies of a release that takes over from an honest one. They concern what was there
// before it started.
func UpgradeLies() map[string]lie.Lie {
	started := time.Now()
	older := func(o client.Object) bool { return o.GetCreationTimestamp().Time.Before(started) }
	return map[string]lie.Lie{
		"calls-old-nodes-drifted": reads(func(claim *v1.NodeClaim) {
			if older(claim) && claim.Annotations[v1.NodePoolHashAnnotationKey] != "" {
				claim.Annotations[v1.NodePoolHashAnnotationKey] = "0"
			}
		}, marking),
		"ignores-hash-versions": reads(func(claim *v1.NodeClaim) {
			if claim.Annotations[v1.NodePoolHashVersionAnnotationKey] != "" {
				claim.Annotations[v1.NodePoolHashVersionAnnotationKey] = v1.NodePoolHashVersion
			}
		}, marking, driftHashing),
		"shrinks-old-static-pools": reads(func(pool *v1.NodePool) {
			if n := pool.Spec.Replicas; older(pool) && n != nil && *n > 0 {
				pool.Spec.Replicas = new(*n - 1)
			}
		}, shrinking),
		"forgets-old-buffers": reads(func(b *autoscaling.CapacityBuffer) {
			if older(b) && b.Spec.Replicas != nil {
				b.Spec.Replicas = new(int32(0))
			}
		}, buffering),
		"leads-late": leadsLate(started.Add(2 * time.Minute)),
	}
}

// leadsLate returns a lie: no NodeClaim is created before a time, as if another controller still led.
func leadsLate(until time.Time) lie.Lie {
	return deceives(interceptor.Funcs{
		Create: func(ctx context.Context, c client.WithWatch, o client.Object, opts ...client.CreateOption) error {
			if _, ok := o.(*v1.NodeClaim); ok {
				timer := time.NewTimer(time.Until(until))
				defer timer.Stop()
				select {
				case <-timer.C:
				case <-ctx.Done():
				}
			}
			return c.Create(ctx, o, opts...)
		},
	})
}
