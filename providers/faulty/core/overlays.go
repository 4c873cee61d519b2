package core

import (
	"context"
	"fmt"
	"hash/fnv"

	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
	v1 "sigs.k8s.io/karpenter/pkg/apis/v1"
	"sigs.k8s.io/karpenter/pkg/apis/v1alpha1"

	"github.com/plumbline-e2e/plumbline/providers/faulty/lie"
)

// overlaying is the controller that reads NodeOverlays.
const overlaying = "nodeoverlay.controller"

// overlayLies returns the lies about NodeOverlays.
func overlayLies() map[string]lie.Lie {
	return map[string]lie.Lie{
		"ignores-overlaid-prices": reads(func(o *v1alpha1.NodeOverlay) {
			o.Spec.Price, o.Spec.PriceAdjustment = nil, nil
		}, overlaying),
		"ignores-overlaid-capacity": reads(func(o *v1alpha1.NodeOverlay) { o.Spec.Capacity = nil }, overlaying),
		"prefers-light-overlays": reads(func(o *v1alpha1.NodeOverlay) {
			if o.Spec.Weight != nil {
				o.Spec.Weight = new(10_001 - *o.Spec.Weight)
			}
		}, overlaying),
		"takes-overlays-by-name": reads(func(o *v1alpha1.NodeOverlay) {
			name := fnv.New32()
			_, _ = name.Write([]byte(o.Name))                  // a hash never fails
			o.Spec.Weight = new(int32(name.Sum32()%9_999 + 1)) //nolint:gosec // below ten thousand
		}, overlaying),
		"stops-overlays-at-an-unready-pool": stopsAtAnUnreadyPool(),
	}
}

// stopsAtAnUnreadyPool returns a lie: while any pool isn't ready, NodeOverlays are not read.
func stopsAtAnUnreadyPool() lie.Lie {
	return deceives(interceptor.Funcs{
		List: func(ctx context.Context, c client.WithWatch, list client.ObjectList, opts ...client.ListOption) error {
			if err := c.List(ctx, list, opts...); err != nil {
				return err
			}
			pools, ok := list.(*v1.NodePoolList)
			if !ok || !told(ctx, overlaying) {
				return nil
			}
			for i := range pools.Items {
				if pool := &pools.Items[i]; pool.StatusConditions().Root().IsFalse() {
					return fmt.Errorf("NodePool %s has no instance types", pool.Name)
				}
			}
			return nil
		},
	})
}
