package core

import (
	"context"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
	"sigs.k8s.io/karpenter/pkg/operator/options"

	"github.com/plumbline-e2e/plumbline/providers/faulty/lie"
)

// defaultSpreadLies returns the lies about pods that are spread as the scheduler does by default.
func defaultSpreadLies() map[string]lie.Lie {
	return map[string]lie.Lie{
		"takes-a-part-for-the-selector": reads(keepOneTerm, provisioning),
		"spreads-lone-pods":             spreadsLonePods(),
	}
}

// keepOneTerm leaves one label, or else one expression, of the selector of a ReplicaSet.
func keepOneTerm(replicas *appsv1.ReplicaSet) {
	selector := replicas.Spec.Selector
	for key := range selector.MatchLabels {
		if len(selector.MatchLabels) > 1 {
			delete(selector.MatchLabels, key)
		}
	}
	selector.MatchExpressions = selector.MatchExpressions[:min(1, len(selector.MatchExpressions))]
}

// spreadsLonePods returns a lie: a pod without an owner is spread with those of the same labels.
func spreadsLonePods() lie.Lie {
	return deceives(interceptor.Funcs{
		List: func(ctx context.Context, c client.WithWatch, list client.ObjectList, opts ...client.ListOption) error {
			pods, ok := list.(*corev1.PodList)
			if !ok || !told(ctx, provisioning) {
				return c.List(ctx, list, opts...)
			}
			if err := c.List(ctx, list, append(slices.Clone(opts), copied)...); err != nil {
				return err
			}
			config := options.FromContext(ctx).SchedulerConfig
			if config == nil || config.PodTopologySpread == nil {
				return nil
			}
			for i := range pods.Items {
				if len(pods.Items[i].OwnerReferences) == 0 {
					spread(&pods.Items[i], config.PodTopologySpread.DefaultConstraints)
				}
			}
			return nil
		},
	})
}

// spread gives a pod constraints that count the pods with its labels.
func spread(pod *corev1.Pod, constraints []corev1.TopologySpreadConstraint) {
	for _, constraint := range constraints {
		constraint.LabelSelector = &metav1.LabelSelector{MatchLabels: pod.Labels}
		pod.Spec.TopologySpreadConstraints = append(pod.Spec.TopologySpreadConstraints, constraint)
	}
}
