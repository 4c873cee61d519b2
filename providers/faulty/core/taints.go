package core

import (
	"context"
	"errors"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
	v1 "sigs.k8s.io/karpenter/pkg/apis/v1"

	"github.com/plumbline-e2e/plumbline/providers/faulty/lie"
)

// taintLies returns the lies about the taints and labels of nodes.
func taintLies() map[string]lie.Lie {
	return map[string]lie.Lie{
		"taints-only-when-it-drains": writes(func(node *corev1.Node) {
			node.Spec.Taints = slices.DeleteFunc(node.Spec.Taints, func(t corev1.Taint) bool {
				return t.MatchTaint(&v1.DisruptedNoScheduleTaint)
			})
		}, disrupting),
		"overlooks-startup-taints": reads(func(node *corev1.Node) {
			if node.Labels[v1.NodeRegisteredLabelKey] == "true" {
				node.Spec.Taints = nil
			}
		}, lifecycle),
		"keeps-disrupted-taints": writes(func(node *corev1.Node) {
			if !slices.ContainsFunc(node.Spec.Taints, func(t corev1.Taint) bool {
				return t.MatchTaint(&v1.DisruptedNoScheduleTaint)
			}) {
				node.Spec.Taints = append(node.Spec.Taints, v1.DisruptedNoScheduleTaint)
			}
		}, disrupting, replacing),
		"disrupts-with-another-effect": writes(func(node *corev1.Node) {
			for i := range node.Spec.Taints {
				if node.Spec.Taints[i].Key == v1.DisruptedTaintKey {
					node.Spec.Taints[i].Effect = corev1.TaintEffectPreferNoSchedule
				}
			}
		}, disrupting),
		"overlooks-soft-taints": reads(func(pool *v1.NodePool) {
			pool.Spec.Template.Spec.Taints = slices.DeleteFunc(pool.Spec.Template.Spec.Taints, func(t corev1.Taint) bool {
				return t.Effect == corev1.TaintEffectPreferNoSchedule
			})
		}, provisioning),
		"registers-late": registersLate(),
		"registers-without-a-label": writes(func(node *corev1.Node) {
			delete(node.Labels, v1.NodeRegisteredLabelKey)
		}, lifecycle),
	}
}

// registersLate returns a lie: a node is registered only twenty seconds after it has joined.
func registersLate() lie.Lie {
	const wait = 20 * time.Second
	return deceives(interceptor.Funcs{
		Patch: func(ctx context.Context, c client.WithWatch, o client.Object, patch client.Patch,
			opts ...client.PatchOption,
		) error {
			node, ok := o.(*corev1.Node)
			if ok && told(ctx, lifecycle) && time.Since(node.CreationTimestamp.Time) < wait {
				return apierrors.NewConflict(schema.GroupResource{Resource: "nodes"}, node.Name,
					errors.New("registration is delayed"))
			}
			return c.Patch(ctx, o, patch, opts...)
		},
	})
}
