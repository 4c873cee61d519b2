package invariant

import (
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/e2e/history"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
)

// What a drain makes of a pod. Source: Karpenter, pkg/utils/pod/scheduling.go and
// pkg/controllers/node/termination/terminator/terminator.go.

// stale is how old a controller's view of the cluster may be when it acts on it.
const stale = 5 * time.Second

// protected says whether a pod forbids its eviction. Its annotation may also be a
// duration, but only of late: here that is no protection, so that the answer is
// right for every release.
func protected(pod *unstructured.Unstructured) bool {
	return text(pod, "metadata", "annotations", karpenter.DoNotDisruptAnnotation) == "true"
}

// active says whether a pod is neither at its end nor being deleted.
func active(pod *unstructured.Unstructured) bool { return !terminal(pod) && !karpenter.Deleting(pod) }

func terminal(pod *unstructured.Unstructured) bool {
	phase := karpenter.PodPhase(pod)
	return phase == corev1.PodFailed || phase == corev1.PodSucceeded
}

// evicted says whether a pod was evicted through the Eviction API (Kubernetes: pod
// condition DisruptionTarget).
func evicted(pod *unstructured.Unstructured) bool {
	c, _ := karpenter.Condition(pod, string(corev1.DisruptionTarget))
	return c.Status == "True" && c.Reason == "EvictionByEvictionAPI"
}

// evictedHere says whether an event is the eviction of a pod.
func evictedHere(m *check.Moment) bool {
	return m.Before != nil && evicted(m.Event.Object.Unstructured()) && !evicted(m.Before.Unstructured())
}

// drains says whether a drain waits for this pod to go: it is not a static pod, nor
// at its end, and doesn't tolerate that its node is disrupted.
func drains(pod *unstructured.Unstructured) bool {
	return !terminal(pod) && !ownedBy(pod, "Node") && !toleratesDisruption(pod)
}

func toleratesDisruption(pod *unstructured.Unstructured) bool {
	for _, t := range list(pod, "spec", "tolerations") {
		effect, key, operator, value := t["effect"], t["key"], t["operator"], t["value"]
		if effect != nil && effect != "" && effect != string(corev1.TaintEffectNoSchedule) {
			continue
		}
		anyValue := operator == string(corev1.TolerationOpExists) || value == nil || value == ""
		if (key == nil || key == "") && operator == string(corev1.TolerationOpExists) || key == karpenter.DisruptedTaint && anyValue {
			return true
		}
	}
	return false
}

// tier is in which turn a drain evicts a pod: after all pods of lower tiers are
// gone.
func tier(pod *unstructured.Unstructured) int {
	t := 0
	if class := text(pod, "spec", "priorityClassName"); class == "system-cluster-critical" || class == "system-node-critical" {
		t = 2
	}
	if ownedBy(pod, "DaemonSet") {
		t++
	}
	return t
}

// tierName is a tier in words.
func tierName(tier int) string {
	return [...]string{"neither critical nor a daemon", "a daemon", "critical", "a critical daemon"}[tier]
}

// grace is the time that a pod is given to end.
func grace(pod *unstructured.Unstructured) time.Duration {
	seconds, _, _ := unstructured.NestedInt64(pod.Object, "spec", "terminationGracePeriodSeconds")
	return time.Duration(seconds) * time.Second
}

// deadline is by when the drain of a NodeClaim's node must be over: the earlier of what
// its annotation says and what its spec does, since the annotation may only bring it
// forward (Karpenter: pkg/utils/nodeclaim, TightenTerminationTimestampAnnotation);
// zero if neither says anything.
func deadline(claim *unstructured.Unstructured) time.Time {
	said, by := annotatedDeadline(claim), specDeadline(claim)
	if by.IsZero() || !said.IsZero() && said.Before(by) {
		return said
	}
	return by
}

// annotatedDeadline is that by the NodeClaim's annotation.
func annotatedDeadline(claim *unstructured.Unstructured) time.Time {
	return moment(claim, "metadata", "annotations", karpenter.TerminationTimestampAnnotation)
}

// specDeadline is that by the NodeClaim's spec.
func specDeadline(claim *unstructured.Unstructured) time.Time {
	period, err := time.ParseDuration(text(claim, "spec", "terminationGracePeriod"))
	if asked := moment(claim, "metadata", "deletionTimestamp"); err == nil && !asked.IsZero() {
		return asked.Add(period)
	}
	return time.Time{}
}

// residents are the pods of each node, by UID.
type residents map[string]map[string]resident

// resident is a pod on a node.
type resident struct {
	pod   *history.Object
	since time.Time // when it was seen to be bound; zero if it was from the start
}

// see learns of a pod.
func (r residents) see(pod *history.Object, gone bool, now time.Time) {
	node := karpenter.PodNode(pod.Unstructured())
	if node == "" {
		return
	}
	if gone {
		delete(r[node], pod.UID)
		return
	}
	if r[node] == nil {
		r[node] = map[string]resident{}
	}
	since := now
	if known, here := r[node][pod.UID]; here {
		since = known.since
	}
	r[node][pod.UID] = resident{pod, since}
}

// start learns of the pods that were there from the start.
func (r residents) start(w *history.World) {
	for _, pod := range w.List(karpenter.Pods) {
		r.see(pod, false, time.Time{})
	}
}
