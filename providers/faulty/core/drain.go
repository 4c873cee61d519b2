package core

import (
	"context"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
	v1 "sigs.k8s.io/karpenter/pkg/apis/v1"

	"github.com/plumbline-e2e/plumbline/providers/faulty/lie"
)

// drainLies returns the lies about the pods on a node that is drained.
func drainLies() map[string]lie.Lie {
	return map[string]lie.Lie{
		"overlooks-do-not-disrupt": reads(func(pod *corev1.Pod) {
			delete(pod.Annotations, v1.DoNotDisruptAnnotationKey)
		}, disrupting, terminating, evicting),
		"overlooks-grace-periods": reads(func(claim *v1.NodeClaim) {
			claim.Spec.TerminationGracePeriod = nil
		}, lifecycle),
		"evicts-daemons-with-the-rest": reads(func(pod *corev1.Pod) {
			pod.OwnerReferences = slices.DeleteFunc(pod.OwnerReferences, func(owner metav1.OwnerReference) bool {
				return owner.Kind == "DaemonSet"
			})
		}, terminating),
		"deletes-instead-of-evicting": deceives(interceptor.Funcs{
			SubResourceCreate: func(ctx context.Context, c client.Client, name string, o, sub client.Object,
				opts ...client.SubResourceCreateOption,
			) error {
				if name == "eviction" {
					return c.Delete(ctx, o)
				}
				return c.SubResource(name).Create(ctx, o, sub, opts...)
			},
		}),
	}
}
