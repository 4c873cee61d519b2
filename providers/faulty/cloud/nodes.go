package cloud

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"sigs.k8s.io/controller-runtime/pkg/client"
	karpenterv1 "sigs.k8s.io/karpenter/pkg/apis/v1"

	"github.com/plumbline-e2e/plumbline/providers/faulty/lie"
)

// These are lies about Nodes: as what they join, and what the provider's own
// controllers do to them later.

func isNotUnregistered(node *corev1.Node) {
	node.Spec.Taints = slices.DeleteFunc(node.Spec.Taints, is(karpenterv1.UnregisteredNoExecuteTaint))
}

// keepsTaintsToItself says that the provider sets the taints of its nodes, which
// it doesn't.
func keepsTaintsToItself(node *corev1.Node) {
	node.Labels[karpenterv1.NodeDoNotSyncTaintsLabelKey] = "true"
}

// joinsWithLittleRoom lets nodes say for how many pods they have room once they are
// initialized; until then it is two.
func joinsWithLittleRoom() lie.Lie {
	l := tending(func(ctx context.Context, c client.Client, node *corev1.Node) error {
		if node.Labels[karpenterv1.NodeInitializedLabelKey] != "true" || node.Status.Allocatable.Pods().Value() > 2 {
			return nil
		}
		stored := node.DeepCopy()
		node.Status.Allocatable[corev1.ResourcePods] = resource.MustParse("16")
		return c.Status().Patch(ctx, node, client.MergeFrom(stored))
	})
	l.Instances = joinedAs(func(node *corev1.Node) { hasRoomForTwoOf(node.Status.Allocatable) }).Instances
	return l
}

func hasRoomForTwoOf(resources corev1.ResourceList) {
	resources[corev1.ResourcePods] = resource.MustParse("2")
}

// A tender is what a provider's own controller does to each Node of a pool,
// again and again.
type tender func(context.Context, client.Client, *corev1.Node) error

// tendEvery is short, so that no spec is over before the lie is told.
const tendEvery = 50 * time.Millisecond

// tending is a lie about what becomes of Nodes that have joined.
func tending(tend tender) lie.Lie {
	return lie.Lie{Sabotage: func(ctx context.Context, c client.Client) error {
		err := wait.PollUntilContextCancel(ctx, tendEvery, true, func(ctx context.Context) (bool, error) {
			return false, tendAll(ctx, c, tend)
		})
		if ctx.Err() != nil {
			return nil //nolint:nilerr // the manager ends
		}
		return err
	}}
}

func tendAll(ctx context.Context, c client.Client, tend tender) error {
	nodes := &corev1.NodeList{}
	if err := c.List(ctx, nodes, client.HasLabels{karpenterv1.NodePoolLabelKey}); err != nil {
		return fmt.Errorf("listing nodes: %w", err)
	}
	for i := range nodes.Items {
		err := tend(ctx, c, &nodes.Items[i])
		if err != nil && !apierrors.IsNotFound(err) && !apierrors.IsConflict(err) {
			return fmt.Errorf("tending node %s: %w", nodes.Items[i].Name, err)
		}
	}
	return nil
}

// joinsAgain adds a second Node for each instance that is at work.
func joinsAgain(ctx context.Context, c client.Client, node *corev1.Node) error {
	if node.Labels[karpenterv1.NodeInitializedLabelKey] != "true" || node.DeletionTimestamp != nil {
		return nil
	}
	again := rejoined(node)
	again.Name = node.Name + "-again"
	return ignore(apierrors.IsAlreadyExists, c.Create(ctx, again))
}

// rejoined returns a Node as its kubelet makes it anew: without what core has
// added.
func rejoined(node *corev1.Node) *corev1.Node {
	again := node.DeepCopy()
	again.ObjectMeta = metav1.ObjectMeta{Name: node.Name, Labels: again.Labels, Annotations: again.Annotations}
	delete(again.Labels, karpenterv1.NodeRegisteredLabelKey)
	delete(again.Labels, karpenterv1.NodeInitializedLabelKey)
	again.Spec.Taints = []corev1.Taint{karpenterv1.UnregisteredNoExecuteTaint}
	return again
}

// resetsLabels takes labels that are neither Karpenter's nor Kubernetes' for
// leftovers once the node is registered.
func resetsLabels(ctx context.Context, c client.Client, node *corev1.Node) error {
	if node.Labels[karpenterv1.NodeRegisteredLabelKey] != "true" || node.DeletionTimestamp != nil {
		return nil
	}
	return patched(ctx, c, node, func() {
		maps.DeleteFunc(node.Labels, func(key, _ string) bool { return !of(key, "karpenter.sh", "k8s.io", "kubernetes.io") })
	})
}

// clearsStartupTaints takes them for leftovers once the node is ready.
func clearsStartupTaints(ctx context.Context, c client.Client, node *corev1.Node) error {
	ready := slices.ContainsFunc(node.Status.Conditions, func(c corev1.NodeCondition) bool {
		return c.Type == corev1.NodeReady && c.Status == corev1.ConditionTrue
	})
	if !ready || node.Labels[karpenterv1.NodeRegisteredLabelKey] != "true" {
		return nil
	}
	claims := &karpenterv1.NodeClaimList{}
	if err := c.List(ctx, claims, client.MatchingFields{"status.providerID": node.Spec.ProviderID}); err != nil {
		return err
	}
	return patched(ctx, c, node, func() {
		for _, claim := range claims.Items {
			for _, taint := range claim.Spec.StartupTaints {
				node.Spec.Taints = slices.DeleteFunc(node.Spec.Taints, is(taint))
			}
		}
	})
}

// clearsDisruptedTaint keeps nodes as they were launched: a taint that came
// later goes.
func clearsDisruptedTaint(ctx context.Context, c client.Client, node *corev1.Node) error {
	if node.DeletionTimestamp != nil {
		return nil
	}
	return patched(ctx, c, node, func() {
		node.Spec.Taints = slices.DeleteFunc(node.Spec.Taints, is(karpenterv1.DisruptedNoScheduleTaint))
	})
}

// clearsForeignTaints keeps the taints of a node that is at work as somebody knows
// them: Karpenter's and Kubernetes' own.
func clearsForeignTaints(ctx context.Context, c client.Client, node *corev1.Node) error {
	if node.Labels[karpenterv1.NodeInitializedLabelKey] != "true" || node.DeletionTimestamp != nil {
		return nil
	}
	return patched(ctx, c, node, func() {
		node.Spec.Taints = slices.DeleteFunc(node.Spec.Taints, func(t corev1.Taint) bool {
			return !of(t.Key, "karpenter.sh", "k8s.io", "kubernetes.io")
		})
	})
}

// endsByItself ends instances two seconds after they came to work.
func endsByItself() tender {
	since := map[string]time.Time{}
	return func(ctx context.Context, c client.Client, node *corev1.Node) error {
		if node.Labels[karpenterv1.NodeInitializedLabelKey] != "true" || node.DeletionTimestamp != nil {
			return nil
		}
		began, known := since[node.Name]
		if !known {
			since[node.Name] = time.Now()
			return nil
		}
		if time.Since(began) < 2*time.Second {
			return nil
		}
		return c.Delete(ctx, node)
	}
}

// patched writes what an edit changes of a Node.
func patched(ctx context.Context, c client.Client, node *corev1.Node, edit func()) error {
	stored := node.DeepCopy()
	edit()
	if equality.Semantic.DeepEqual(stored, node) {
		return nil
	}
	return c.Patch(ctx, node, client.MergeFromWithOptions(stored, client.MergeFromWithOptimisticLock{}))
}

func is(taint corev1.Taint) func(corev1.Taint) bool {
	return func(t corev1.Taint) bool { return t.MatchTaint(&taint) }
}

// ignore returns an error unless it is of a kind.
func ignore(kind func(error) bool, err error) error {
	if kind(err) {
		return nil
	}
	return err
}
