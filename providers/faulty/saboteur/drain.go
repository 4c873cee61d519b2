package saboteur

import (
	"context"
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	v1 "sigs.k8s.io/karpenter/pkg/apis/v1"
	"sigs.k8s.io/karpenter/pkg/events"
)

// evictsBeforeTainting marks a drifted NodeClaim as disrupted and evicts its pods before the
// node has the disrupted taint, so they may return to it.
func evictsBeforeTainting(ctx context.Context, c client.Client, claim *v1.NodeClaim) (bool, error) {
	if !alive(claim) || !reached(claim, v1.ConditionTypeDrifted) || reached(claim, v1.ConditionTypeDisruptionReason) {
		return false, nil
	}
	why := string(v1.DisruptionReasonDrifted)
	err := changeStatus(ctx, c, claim, func(claim *v1.NodeClaim) {
		claim.StatusConditions().SetTrueWithReason(v1.ConditionTypeDisruptionReason, why, why)
	})
	if err != nil {
		return false, err
	}
	return true, evict(ctx, c, claim.Status.NodeName, func(pod *corev1.Pod) bool { return !protected(pod) })
}

// evictsProtectedPods evicts the do-not-disrupt pods of a NodeClaim that is being deleted.
func evictsProtectedPods(ctx context.Context, c client.Client, claim *v1.NodeClaim) (bool, error) {
	if claim.DeletionTimestamp.IsZero() {
		return false, nil
	}
	return true, evict(ctx, c, claim.Status.NodeName, protected)
}

// drainsDaemonsFirst evicts a node's daemons when its drain begins. Core evicts other pods.
func drainsDaemonsFirst(ctx context.Context, c client.Client, node *corev1.Node) (bool, error) {
	if node.DeletionTimestamp.IsZero() {
		return false, nil
	}
	return true, evict(ctx, c, node.Name, daemon)
}

// deletesPodsByForce deletes by force the pods of a NodeClaim that is being deleted and has no
// terminationGracePeriod.
func deletesPodsByForce(ctx context.Context, c client.Client, claim *v1.NodeClaim) (bool, error) {
	if claim.DeletionTimestamp.IsZero() || claim.Spec.TerminationGracePeriod != nil {
		return false, nil
	}
	return true, remove(ctx, c, claim.Status.NodeName)
}

// cutsGracePeriodsShort deletes by force the pods of a NodeClaim that is being deleted,
// without waiting for its terminationGracePeriod to end.
func cutsGracePeriodsShort(ctx context.Context, c client.Client, claim *v1.NodeClaim) (bool, error) {
	if claim.DeletionTimestamp.IsZero() || claim.Spec.TerminationGracePeriod == nil {
		return false, nil
	}
	return true, remove(ctx, c, claim.Status.NodeName)
}

// stretchesGracePeriods sets the end of a node's drain to an hour from now, before the drain
// begins. Core keeps this value and ignores terminationGracePeriod.
func stretchesGracePeriods(ctx context.Context, c client.Client, claim *v1.NodeClaim) (bool, error) {
	if !alive(claim) || claim.Spec.TerminationGracePeriod == nil {
		return false, nil
	}
	end := time.Now().Add(time.Hour).Format(time.RFC3339)
	return true, change(ctx, c, claim, func(claim *v1.NodeClaim) {
		claim.Annotations[v1.NodeClaimTerminationTimestampAnnotationKey] = end
	})
}

// deletesPastPodBudgets deletes all pods of a NodeClaim that is being deleted, instead of
// evicting them.
func deletesPastPodBudgets(ctx context.Context, c client.Client, claim *v1.NodeClaim) (bool, error) {
	if claim.DeletionTimestamp.IsZero() {
		return false, nil
	}
	pods, err := podsOn(ctx, c, claim.Status.NodeName)
	if err != nil {
		return false, err
	}
	for i := range pods {
		if err := c.Delete(ctx, &pods[i]); err != nil {
			return false, fmt.Errorf("deleting %s: %w", pods[i].Name, err)
		}
	}
	return true, nil
}

// evict evicts the pods on a node for which which returns true.
func evict(ctx context.Context, c client.Client, node string, which func(*corev1.Pod) bool) error {
	pods, err := podsOn(ctx, c, node)
	if err != nil {
		return err
	}
	for i := range pods {
		if !which(&pods[i]) {
			continue
		}
		if err := c.SubResource("eviction").Create(ctx, &pods[i], &policyv1.Eviction{}); err != nil {
			return fmt.Errorf("evicting %s: %w", pods[i].Name, err)
		}
	}
	return nil
}

// remove deletes the pods on a node by force and emits the same events as core.
func remove(ctx context.Context, c client.Client, node string) error {
	pods, err := podsOn(ctx, c, node)
	if err != nil {
		return err
	}
	for i := range pods {
		pod := &pods[i]
		if err := c.Delete(ctx, pod, client.GracePeriodSeconds(0)); err != nil {
			return fmt.Errorf("deleting %s: %w", pod.Name, err)
		}
		report := &corev1.Event{
			ObjectMeta: metav1.ObjectMeta{GenerateName: pod.Name + ".", Namespace: pod.Namespace},
			InvolvedObject: corev1.ObjectReference{
				APIVersion: "v1", Kind: "Pod", Namespace: pod.Namespace, Name: pod.Name,
				UID: pod.UID,
			},
			Source:         corev1.EventSource{Component: "karpenter"},
			Type:           corev1.EventTypeNormal,
			Reason:         events.Disrupted,
			Message:        "Deleting the pod to accommodate the termination of the node",
			FirstTimestamp: metav1.Now(),
			LastTimestamp:  metav1.Now(),
			Count:          1,
		}
		if err := c.Create(ctx, report); err != nil {
			return fmt.Errorf("reporting the deletion of %s: %w", pod.Name, err)
		}
	}
	return nil
}

// dropsNodeFinalizers removes a node's finalizer when its drain begins, while its pods and its
// instance still run.
func dropsNodeFinalizers(ctx context.Context, c client.Client, node *corev1.Node) (bool, error) {
	if node.DeletionTimestamp.IsZero() || !slices.Contains(node.Finalizers, v1.TerminationFinalizer) {
		return false, nil
	}
	return true, change(ctx, c, node, func(node *corev1.Node) {
		controllerutil.RemoveFinalizer(node, v1.TerminationFinalizer)
	})
}

// dropsClaimFinalizers removes a NodeClaim's finalizer while its node is being drained, as if
// the instance were gone.
func dropsClaimFinalizers(ctx context.Context, c client.Client, claim *v1.NodeClaim) (bool, error) {
	if claim.DeletionTimestamp.IsZero() || claim.StatusConditions().Get(v1.ConditionTypeDrained) == nil {
		return false, nil
	}
	return true, change(ctx, c, claim, func(claim *v1.NodeClaim) {
		controllerutil.RemoveFinalizer(claim, v1.TerminationFinalizer)
	})
}
