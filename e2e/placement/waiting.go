package placement

import (
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/plumbline-e2e/plumbline/e2e/history"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
)

// Settled is how long a pod has waited at least if Karpenter has decided about it: its batch
// window of a second (BATCH_IDLE_DURATION), and a simulation.
const Settled = 2 * time.Second

// Waiting returns the pods of a namespace for which Karpenter should launch nodes, if it can.
// The scheduler has found no place for them for a time. Left out are pods of which Karpenter
// leaves the placement to others: those with gates, another scheduler, a ResourceClaim or a
// node that preemption clears for them, and those of daemons (Karpenter:
// pkg/utils/pod/scheduling.go, IsProvisionable).
func Waiting(w *history.World, namespace string, now time.Time, since time.Duration) []*history.Object {
	var waiting []*history.Object
	for _, o := range w.List(karpenter.Pods) {
		if o.Namespace == namespace && waits(o.Unstructured(), now.Add(-since)) {
			waiting = append(waiting, o)
		}
	}
	return waiting
}

func waits(pod *unstructured.Unstructured, before time.Time) bool {
	c, _ := karpenter.Condition(pod, string(corev1.PodScheduled))
	if c.Status != metav1.ConditionFalse || c.Reason != corev1.PodReasonUnschedulable ||
		c.LastTransitionTime.After(before) || karpenter.Deleting(pod) || karpenter.PodNode(pod) != "" {
		return false
	}
	spec, _, _ := unstructured.NestedMap(pod.Object, "spec")
	scheduler, _ := spec["schedulerName"].(string)
	gates, _ := spec["schedulingGates"].([]any)
	claims, _ := spec["resourceClaims"].([]any)
	nominated, _, _ := unstructured.NestedString(pod.Object, "status", "nominatedNodeName")
	if scheduler != "" && scheduler != corev1.DefaultSchedulerName || len(gates)+len(claims) > 0 || nominated != "" {
		return false
	}
	for _, owner := range pod.GetOwnerReferences() {
		if owner.Kind == "DaemonSet" || owner.Kind == "Node" {
			return false
		}
	}
	return true
}

// Starting returns a NodeClaim that is not initialized yet, or nil. Karpenter may mean waiting
// pods for its node.
func Starting(w *history.World) *history.Object {
	for _, o := range w.List(karpenter.NodeClaims) {
		nodeClaim := o.Unstructured()
		if !karpenter.Deleting(nodeClaim) && !karpenter.IsTrue(nodeClaim, karpenter.Initialized) {
			return o
		}
	}
	return nil
}
