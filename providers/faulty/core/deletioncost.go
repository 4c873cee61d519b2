package core

import (
	"context"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/plumbline-e2e/plumbline/providers/faulty/lie"
)

// costing is core's controller that writes the deletion costs of pods.
const costing = "pod.deletioncost.queue"

// deletionCostLies returns the lies about the deletion costs of pods.
func deletionCostLies() map[string]lie.Lie {
	return map[string]lie.Lie{
		"gives-all-pods-one-cost": writes(func(pod *corev1.Pod) {
			if _, has := pod.Annotations[corev1.PodDeletionCost]; has {
				pod.Annotations[corev1.PodDeletionCost] = "-1"
			}
		}, costing),
		"never-removes-costs": leavesCosts(func(_, wanted string) bool { return wanted == "" }),
		"keeps-costs-of-users": leavesCosts(func(stored, _ string) bool {
			return stored != "" && !strings.HasPrefix(stored, "-")
		}),
	}
}

// leavesCosts returns a lie: some deletion costs stay as they are stored. An empty cost is none.
func leavesCosts(as func(stored, wanted string) bool) lie.Lie {
	return deceives(interceptor.Funcs{
		Patch: func(ctx context.Context, c client.WithWatch, o client.Object, patch client.Patch,
			opts ...client.PatchOption,
		) error {
			if pod, ok := o.(*corev1.Pod); ok && told(ctx, costing) {
				stored := &corev1.Pod{}
				if err := c.Get(ctx, client.ObjectKeyFromObject(pod), stored); err != nil {
					return err
				}
				if as(stored.Annotations[corev1.PodDeletionCost], pod.Annotations[corev1.PodDeletionCost]) {
					return nil
				}
			}
			return c.Patch(ctx, o, patch, opts...)
		},
	})
}
