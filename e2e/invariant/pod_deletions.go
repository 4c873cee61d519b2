package invariant

import (
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/e2e/history"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
)

// replacedWithin is how soon a workload recreates a lost pod (Kubernetes:
// pkg/controller/replicaset, at once; pkg/controller/statefulset, once the old one is gone).
const replacedWithin = 10 * time.Second

// podDeletions decides which pods a drain deleted. No object records it. A workload that is
// scaled down, rolled out or deleted makes no new pod of the same revision. So a pod that is
// recreated was deleted by the drain.
//
// Not judged are pods that were evicted, that Kubernetes itself ended (condition
// DisruptionTarget), that have no ReplicaSet, StatefulSet or ReplicationController, that the
// controller of these says it deleted (one that is scaled down and up again makes new pods), or
// that had to go for the deadline of their node. A deletion by hand on a node that is being
// drained looks like the drain's.
type podDeletions struct {
	workloads map[string]*workload // the owners of pods
	suspected []podDeletion
	removed   map[string]time.Time // when controllers of workloads said that they deleted pods, by namespace and name
}

// workload counts the pods of one owner.
type workload struct {
	pods   int // neither terminal nor being deleted
	recent recent[int]
}

// podDeletion is a pod's deletion in a drain. It is a breach if its workload replaces the pod.
type podDeletion struct {
	pod    *history.Object
	stood  []*history.Object
	at     time.Time
	until  time.Time
	wanted int // pods of its workload
	reason string
}

func newPodDeletions() podDeletions {
	return podDeletions{workloads: map[string]*workload{}, removed: map[string]time.Time{}}
}

func becomesInactive(m *check.Moment) bool {
	return m.Before != nil && isActive(m.Before.Unstructured()) &&
		(m.Deleted() || !isActive(m.Event.Object.Unstructured()))
}

// observe counts the pods of workloads, and judges the suspected deletions.
func (d *podDeletions) observe(m *check.Moment) {
	for _, pod := range m.Seen(karpenter.Pods) {
		if isActive(pod.Unstructured()) && (m.Before == nil || !isActive(m.Before.Unstructured())) {
			w := d.workload(pod)
			w.add(1, m.Since())
			d.judgeReplaced(m, pod, w)
		}
	}
	if m.Resource() == karpenter.Events {
		d.learnRemoved(m)
	}
	if m.Resource() != karpenter.Pods {
		return
	}
	if becomesInactive(m) {
		d.workload(m.Before).add(-1, m.Time)
	}
	if m.Deleted() && ownedBy(m.Event.Object.Unstructured(), "StatefulSet") {
		for i := range d.suspected {
			if d.suspected[i].pod.UID == m.Event.Object.UID { // only now can it be recreated
				d.suspected[i].until = m.Time.Add(replacedWithin)
			}
		}
	}
}

// learnRemoved notes the pod that the controller of a workload says it deleted. ReplicaSets and
// ReplicationControllers say "Deleted pod: a", StatefulSets "delete Pod a in StatefulSet s successful" (Kubernetes:
// pkg/controller/controller_utils.go; pkg/controller/statefulset/stateful_pod_control.go).
func (d *podDeletions) learnRemoved(m *check.Moment) {
	for _, component := range []string{"replicaset-controller", "replication-controller", "statefulset-controller"} {
		reason, about := eventOf(m, component, "", "SuccessfulDelete")
		if reason == "" {
			continue
		}
		words := strings.Fields(karpenter.EventMessage(m.Event.Object.Unstructured()))
		if len(words) > 2 {
			d.removed[about.Namespace+"/"+words[2]] = m.Time
		}
	}
}

// wasRemoved reports whether the controller of a pod's workload said that it deleted the pod just then.
func (d *podDeletions) wasRemoved(s podDeletion) bool {
	said, is := d.removed[s.pod.Namespace+"/"+s.pod.Name]
	return is && said.Sub(s.at).Abs() < replacedWithin
}

// suspect records that the drain of a NodeClaim's node may have deleted the pod that leaves.
// reason says why it should not have.
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
		wanted: d.workload(m.Before).wantedPods(m.Time), reason: reason,
	})
}

// judgeReplaced judges the suspected deletions when a workload has one more pod.
func (d *podDeletions) judgeReplaced(m *check.Moment, made *history.Object, w *workload) {
	d.suspected = slices.DeleteFunc(d.suspected, func(s podDeletion) bool { return m.Time.After(s.until) })
	for _, s := range d.suspected {
		if d.workload(s.pod) == w && w.pods >= s.wanted && revisionOf(s.pod) == revisionOf(made) && !d.wasRemoved(s) {
			m.Suspect("pod %s was deleted at %s while its node was drained, without an eviction and before any deadline; "+
				"%s. Its workload made pod %s instead, so it had not been scaled down",
				s.pod, timeOfDay(s.at), s.reason, made.Name).Beside(s.stood...)
		}
	}
}

// workload returns the workload of a pod. A pod without an owner is its own.
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

// wantedPods returns how many pods the workload wants: the most it had within stale.
func (w *workload) wantedPods(now time.Time) int {
	most := 0
	for pods := range w.recent.since(now.Add(-stale)) {
		most = max(most, pods)
	}
	return most
}

// revisionOf returns which template of a StatefulSet a pod was made from (Kubernetes: apps/v1
// ControllerRevisionHashLabelKey). A ReplicaSet has only one.
func revisionOf(pod *history.Object) string {
	return karpenter.Label(pod.Unstructured(), "controller-revision-hash")
}
