package cloud

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
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

func isNotUnregistered(node *corev1.Node) {
	node.Spec.Taints = slices.DeleteFunc(node.Spec.Taints, is(karpenterv1.UnregisteredNoExecuteTaint))
}

// isSpelledOtherwise capitalizes the provider ID of a Node, as clouds do that don't tell such IDs
// apart.
func isSpelledOtherwise(node *corev1.Node) {
	cloud, instance, _ := strings.Cut(node.Spec.ProviderID, "://")
	node.Spec.ProviderID = cloud + "://" + strings.ToUpper(instance)
}

// keepsTaintsToItself labels a node as if the provider set its taints; it does not.
func keepsTaintsToItself(node *corev1.Node) {
	node.Labels[karpenterv1.NodeDoNotSyncTaintsLabelKey] = "true"
}

// joinsWithLittleRoom returns a lie: nodes have room for two pods until they are initialized.
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

// A tender is called repeatedly for each Node of a pool, as by a provider's own controller.
type tender func(context.Context, client.Client, *corev1.Node) error

// tendEvery is the interval between calls. It is short, so that no spec ends before the lie.
const tendEvery = 50 * time.Millisecond

// tending returns a lie about Nodes that have joined.
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

// joinsAgain adds a second Node for each initialized one.
func joinsAgain(ctx context.Context, c client.Client, node *corev1.Node) error {
	if node.Labels[karpenterv1.NodeInitializedLabelKey] != "true" || node.DeletionTimestamp != nil {
		return nil
	}
	again := rejoined(node)
	again.Name = node.Name + "-again"
	return ignore(apierrors.IsAlreadyExists, c.Create(ctx, again))
}

// rejoined returns a Node as its kubelet creates it again, without what core has added.
func rejoined(node *corev1.Node) *corev1.Node {
	again := node.DeepCopy()
	again.ObjectMeta = metav1.ObjectMeta{Name: node.Name, Labels: again.Labels, Annotations: again.Annotations}
	delete(again.Labels, karpenterv1.NodeRegisteredLabelKey)
	delete(again.Labels, karpenterv1.NodeInitializedLabelKey)
	again.Spec.Taints = []corev1.Taint{karpenterv1.UnregisteredNoExecuteTaint}
	return again
}

// resetsLabels removes labels of other domains than Karpenter's and Kubernetes' from a
// registered node.
func resetsLabels(ctx context.Context, c client.Client, node *corev1.Node) error {
	if node.Labels[karpenterv1.NodeRegisteredLabelKey] != "true" || node.DeletionTimestamp != nil {
		return nil
	}
	return patched(ctx, c, node, func() {
		maps.DeleteFunc(node.Labels, func(key, _ string) bool { return !of(key, "karpenter.sh", "k8s.io", "kubernetes.io") })
	})
}

// clearsStartupTaints removes startup taints from a node that is registered and ready.
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

func clearsDisruptedTaint(ctx context.Context, c client.Client, node *corev1.Node) error {
	if node.DeletionTimestamp != nil {
		return nil
	}
	return patched(ctx, c, node, func() {
		node.Spec.Taints = slices.DeleteFunc(node.Spec.Taints, is(karpenterv1.DisruptedNoScheduleTaint))
	})
}

// clearsForeignTaints removes taints of other domains than Karpenter's and Kubernetes' from an
// initialized node.
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

// endsByItself deletes nodes two seconds after they are initialized.
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

// patched patches a Node if the edit changes it.
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

// ignore returns the error, or nil if it is of that kind.
func ignore(kind func(error) bool, err error) error {
	if kind(err) {
		return nil
	}
	return err
}
