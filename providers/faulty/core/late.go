package core

import (
	"context"
	"slices"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
	v1 "sigs.k8s.io/karpenter/pkg/apis/v1"

	"github.com/plumbline-e2e/plumbline/providers/faulty/lie"
)

// lateLies returns the lies about what is seen too late, as by a cache that lags.
func lateLies() map[string]lie.Lie {
	return map[string]lie.Lie{
		"overlooks-young-pods": overlooksYoungPods(),
		"sees-protection-late": reads(late(func(pod *corev1.Pod) bool {
			return pod.Annotations[v1.DoNotDisruptAnnotationKey] == "true"
		}, func(pod *corev1.Pod) {
			delete(pod.Annotations, v1.DoNotDisruptAnnotationKey)
		}), disrupting),
		"sees-budgets-late": reads(late(func(pool *v1.NodePool) bool {
			return len(pool.Spec.Disruption.Budgets) > 0 && pool.Spec.Disruption.Budgets[0].Nodes == "0"
		}, func(pool *v1.NodePool) {
			pool.Spec.Disruption.Budgets = nil
		}), disrupting),
		"sees-lone-pods-late": reads(late(func(pod *corev1.Pod) bool {
			return len(pod.OwnerReferences) == 0 && pod.Spec.NodeName != ""
		}, func(pod *corev1.Pod) {
			pod.Spec.NodeName, pod.Spec.Containers = "", nil
		}), disrupting, rememberingPods, rememberingNodes),
	}
}

// late returns a change that undoes what is so for half a minute after it is first seen so. The
// controller that it is told to believes what was before.
func late[T client.Object](so func(T) bool, undo func(T)) func(T) {
	const while = 30 * time.Second
	var seen sync.Map // when an object was first so, by its UID
	return func(o T) {
		if !so(o) {
			return
		}
		if first, _ := seen.LoadOrStore(o.GetUID(), time.Now()); time.Since(first.(time.Time)) < while {
			undo(o)
		}
	}
}

// overlooksYoungPods returns a lie that hides new pods for a while, as a cache that lags does.
func overlooksYoungPods() lie.Lie {
	const while = 15 * time.Second
	return deceives(interceptor.Funcs{
		List: func(ctx context.Context, c client.WithWatch, list client.ObjectList, opts ...client.ListOption) error {
			err := c.List(ctx, list, opts...)
			if pods, ok := list.(*corev1.PodList); ok && told(ctx, disrupting) {
				pods.Items = slices.DeleteFunc(pods.Items, func(pod corev1.Pod) bool {
					return time.Since(pod.CreationTimestamp.Time) < while
				})
			}
			return err
		},
	})
}
