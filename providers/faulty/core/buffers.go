package core

import (
	"context"
	"sync"

	appsv1 "k8s.io/api/apps/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
	autoscaling "sigs.k8s.io/karpenter/pkg/apis/autoscaling/v1beta1"

	"github.com/plumbline-e2e/plumbline/providers/faulty/lie"
)

// buffering is the controller that reconciles CapacityBuffers.
const buffering = "capacitybuffer"

// bufferLies returns the lies about CapacityBuffers.
func bufferLies() map[string]lie.Lie {
	return map[string]lie.Lie{
		"fills-buffers-too-far": reads(func(b *autoscaling.CapacityBuffer) {
			if n := b.Spec.Replicas; n != nil && *n > 0 {
				b.Spec.Replicas = new(*n + 1)
			}
		}, buffering),
		"fills-buffers-too-little": reads(func(b *autoscaling.CapacityBuffer) {
			if n := b.Spec.Replicas; n != nil && *n > 1 {
				b.Spec.Replicas = new(*n - 1)
			}
		}, buffering),
		"doubles-percentages": reads(func(b *autoscaling.CapacityBuffer) {
			if p := b.Spec.Percentage; p != nil {
				b.Spec.Percentage = new(*p * 2)
			}
		}, buffering),
		"ignores-limits-of-buffers": reads(func(b *autoscaling.CapacityBuffer) { b.Spec.Limits = nil }, buffering),
		"counts-buffers-as-used":    fillsOnce(),
		"remembers-buffers":         remembersBuffers(),
		"takes-buffers-for-filled":  writesStatus(takesForFilled),
	}
}

// takesForFilled changes what a buffer says: there is room for all of its pods.
func takesForFilled(buffer *autoscaling.CapacityBuffer) {
	if said := meta.FindStatusCondition(buffer.Status.Conditions, autoscaling.ProvisioningCondition); said != nil {
		said.Status = metav1.ConditionTrue
	}
}

// fillsOnce returns a lie: the replicas of Deployments in the namespace use up a buffer, so it
// is not filled again. Buffers are read when a Deployment changes, before its pods exist.
func fillsOnce() lie.Lie {
	return deceives(interceptor.Funcs{
		Get: func(ctx context.Context, c client.WithWatch, key client.ObjectKey, o client.Object,
			opts ...client.GetOption,
		) error {
			if err := c.Get(ctx, key, o, opts...); err != nil {
				return err
			}
			buffer, ok := o.(*autoscaling.CapacityBuffer)
			if !ok || buffer.Spec.Replicas == nil || !told(ctx, buffering) {
				return nil
			}
			deployments := &appsv1.DeploymentList{}
			if err := c.List(ctx, deployments, client.InNamespace(key.Namespace)); err != nil {
				return err
			}
			left := *buffer.Spec.Replicas
			for i := range deployments.Items {
				left -= ptr.Deref(deployments.Items[i].Spec.Replicas, 1)
			}
			buffer.Spec.Replicas = new(max(0, left))
			return nil
		},
	})
}

// remembersBuffers returns a lie: a deleted buffer still exists.
func remembersBuffers() lie.Lie {
	var seen sync.Map
	return deceives(interceptor.Funcs{
		Get: func(ctx context.Context, c client.WithWatch, key client.ObjectKey, o client.Object,
			opts ...client.GetOption,
		) error {
			err := c.Get(ctx, key, o, opts...)
			buffer, ok := o.(*autoscaling.CapacityBuffer)
			if !ok || !told(ctx, buffering) {
				return err
			}
			if err == nil {
				seen.Store(key, buffer.DeepCopy())
				return nil
			}
			if before, known := seen.Load(key); known && apierrors.IsNotFound(err) {
				before.(*autoscaling.CapacityBuffer).DeepCopyInto(buffer)
				return nil
			}
			return err
		},
	})
}
