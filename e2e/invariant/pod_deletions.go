package invariant

import (
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/e2e/history"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
)

// replacedWithin is how soon a pod is made again that nobody wanted to lose (Kubernetes: pkg/controller/replicaset, at
// once; pkg/controller/statefulset, once the old one is gone).
const replacedWithin = 10 * time.Second

// podDeletions tell pods that a drain deleted from those that somebody else did. No object says it. When a workload is
// scaled down, rolled out or deleted, it makes no new pod of the same revision instead. So a pod that is made again was
// deleted by the drain.
//
// Not judged are pods that were evicted, that Kubernetes itself says that it ended (condition DisruptionTarget), that
// no ReplicaSet, StatefulSet or ReplicationController owns, and that had to go for the deadline of their node. Whoever
// deletes a pod by hand on a node that is being drained looks like a drain.
type podDeletions struct {
	workloads map[string]*workload // the owners of pods
	suspected []podDeletion
}

// workload is how many pods an owner has.
type workload struct {
	pods   int // neither at their end nor being deleted
	recent recent[int]
}

// podDeletion is of a pod in a drain. It is a breach if its workload comes to have as many pods again.
type podDeletion struct {
	pod    *history.Object
	stood  []*history.Object
	at     time.Time
	until  time.Time
	wanted int // pods of its workload
	reason string
}

func newPodDeletions() podDeletions { return podDeletions{workloads: map[string]*workload{}} }

// becomesInactive says whether a pod comes to be deleted, or to its end.
func becomesInactive(m *check.Moment) bool {
	return m.Before != nil && isActive(m.Before.Unstructured()) &&
		(m.Deleted() || !isActive(m.Event.Object.Unstructured()))
}

// observe takes over what a moment shows, and judges the deletions that are suspected.
func (d *podDeletions) observe(m *check.Moment) {
	for _, pod := range m.Seen(karpenter.Pods) {
		if isActive(pod.Unstructured()) && (m.Before == nil || !isActive(m.Before.Unstructured())) {
			w := d.workload(pod)
			w.add(1, m.Since())
			d.judgeReplaced(m, pod, w)
		}
	}
	if m.Resource() != karpenter.Pods {
		return
	}
	if becomesInactive(m) {
		d.workload(m.Before).add(-1, m.Time)
	}
	if m.Deleted() && ownedBy(m.Event.Object.Unstructured(), "StatefulSet") {
		for i := range d.suspected {
			if d.suspected[i].pod.UID == m.Event.Object.UID { // only now it can be made again
				d.suspected[i].until = m.Time.Add(replacedWithin)
			}
		}
	}
}

// suspect suspects the drain of a NodeClaim's node of having deleted the pod that leaves. The reason says why it should
// not have.
func (d *podDeletions) suspect(m *check.Moment, nodeClaim *history.Object, reason string, stood ...*history.Object) {
	pod := m.Before.Unstructured()
	from := forceTime(nodeClaim.Unstructured(), pod)
	forced := !from.IsZero() && !m.Time.Before(from)
	replaceable := ownedBy(pod, "ReplicaSet") || ownedBy(pod, "StatefulSet") || ownedBy(pod, "ReplicationController")
	if forced || !replaceable || isTrue(m.Event.Object, string(corev1.DisruptionTarget)) {
		return
	}
	d.suspected = append(d.suspected, podDeletion{
		pod: m.Before, stood: append(stood, nodeClaim), at: m.Time, until: m.Time.Add(replacedWithin),
		wanted: d.workload(m.Before).wanted(m.Time), reason: reason,
	})
}

// judgeReplaced judges the deletions that are suspected, now that a workload has one more pod.
func (d *podDeletions) judgeReplaced(m *check.Moment, made *history.Object, w *workload) {
	d.suspected = slices.DeleteFunc(d.suspected, func(s podDeletion) bool { return m.Time.After(s.until) })
	for _, s := range d.suspected {
		if d.workload(s.pod) == w && w.pods >= s.wanted && revisionOf(s.pod) == revisionOf(made) {
			m.Suspect("pod %s was deleted at %s while its node was drained, without an eviction and before any deadline; "+
				"%s. Its workload made pod %s instead, so it had not been scaled down",
				s.pod, timeOfDay(s.at), s.reason, made.Name).Beside(s.stood...)
		}
	}
}

// workload is that of a pod. A pod without an owner is one by itself.
func (d *podDeletions) workload(pod *history.Object) *workload {
	id := pod.UID
	if owners := ownersOf(pod.Unstructured()); len(owners) > 0 {
		id = fmt.Sprint(pod.Namespace, "/", owners[0]["name"], "/", owners[0]["uid"])
	}
	return getOrNew(d.workloads, id)
}

func (w *workload) add(pods int, now time.Time) {
	w.pods += pods
	w.recent.set(now, w.pods)
	w.recent.forget(now.Add(-stale))
}

// wanted is how many pods the workload wants to have: as many as it had at most a little while ago.
func (w *workload) wanted(now time.Time) int {
	most := 0
	for pods := range w.recent.since(now.Add(-stale)) {
		most = max(most, pods)
	}
	return most
}

// revisionOf is which template of a StatefulSet a pod was made from (Kubernetes: apps/v1
// ControllerRevisionHashLabelKey). A ReplicaSet has one only.
func revisionOf(pod *history.Object) string {
	return karpenter.Label(pod.Unstructured(), "controller-revision-hash")
}
