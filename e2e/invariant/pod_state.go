package invariant

import (
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
)

// What a pod is to a drain. Source: Karpenter, pkg/utils/pod/scheduling.go and
// pkg/controllers/node/termination/terminator/terminator.go.

// isProtected reports whether a pod forbids its eviction. An annotation with a duration, as in
// recent releases, does not count, so that the answer is right for every release.
func isProtected(pod *unstructured.Unstructured) bool {
	return textAt(pod, "metadata", "annotations", karpenter.DoNotDisruptAnnotation) == "true"
}

// isActive reports whether a pod is neither terminal nor being deleted.
func isActive(pod *unstructured.Unstructured) bool {
	return !isTerminal(pod) && !karpenter.Deleting(pod)
}

func isTerminal(pod *unstructured.Unstructured) bool {
	phase := karpenter.PodPhase(pod)
	return phase == corev1.PodFailed || phase == corev1.PodSucceeded
}

// isEvicted reports whether a pod was evicted by the Eviction API (condition
// DisruptionTarget).
func isEvicted(pod *unstructured.Unstructured) bool {
	c, _ := karpenter.Condition(pod, string(corev1.DisruptionTarget))
	return c.Status == "True" && c.Reason == "EvictionByEvictionAPI"
}

func becomesEvicted(m *check.Moment) bool {
	return m.Before != nil && isEvicted(m.Event.Object.Unstructured()) && !isEvicted(m.Before.Unstructured())
}

// isDrained reports whether a drain waits for a pod to go. It does not for static pods,
// terminal pods, and pods that tolerate the disrupted taint.
func isDrained(pod *unstructured.Unstructured) bool {
	return !isTerminal(pod) && !ownedBy(pod, "Node") && !karpenter.ToleratesDisruption(pod)
}

// evictionRank orders a drain's evictions. A pod goes after all pods of lower ranks are gone.
func evictionRank(pod *unstructured.Unstructured) int {
	rank := 0
	switch textAt(pod, "spec", "priorityClassName") {
	case "system-cluster-critical", "system-node-critical":
		rank = 2
	}
	if ownedBy(pod, "DaemonSet") {
		rank++
	}
	return rank
}

func rankName(rank int) string {
	return [...]string{"neither critical nor a daemon", "a daemon", "critical", "a critical daemon"}[rank]
}

func gracePeriod(pod *unstructured.Unstructured) time.Duration {
	seconds, _ := fieldAt(pod, "spec", "terminationGracePeriodSeconds").(int64)
	return time.Duration(seconds) * time.Second
}

// drainDeadline returns when the drain of a NodeClaim's node must be over; zero if neither its
// annotation nor its spec has a deadline. The earlier counts, because the annotation may only
// bring it forward (Karpenter: pkg/utils/nodeclaim, TightenTerminationTimestampAnnotation).
func drainDeadline(nodeClaim *unstructured.Unstructured) time.Time {
	annotated, by := annotatedDeadline(nodeClaim), specDeadline(nodeClaim)
	if by.IsZero() || !annotated.IsZero() && annotated.Before(by) {
		return annotated
	}
	return by
}

func annotatedDeadline(nodeClaim *unstructured.Unstructured) time.Time {
	return timeAt(nodeClaim, "metadata", "annotations", karpenter.TerminationTimestampAnnotation)
}

func specDeadline(nodeClaim *unstructured.Unstructured) time.Time {
	period, err := time.ParseDuration(textAt(nodeClaim, "spec", "terminationGracePeriod"))
	if asked := timeAt(nodeClaim, "metadata", "deletionTimestamp"); err == nil && !asked.IsZero() {
		return asked.Add(period)
	}
	return time.Time{}
}

// forceTime returns from when a drain may delete a pod by force, so that its grace period ends
// by the deadline; zero if there is no deadline.
func forceTime(nodeClaim, pod *unstructured.Unstructured) time.Time {
	by := drainDeadline(nodeClaim)
	if by.IsZero() {
		return by
	}
	return by.Add(-gracePeriod(pod) - time.Second)
}
