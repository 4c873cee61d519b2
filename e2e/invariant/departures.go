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

// replacedWithin is how soon a pod that nobody wanted to lose is made again
// (Kubernetes: pkg/controller/replicaset, at once; pkg/controller/statefulset, once
// the old one is gone).
const replacedWithin = 10 * time.Second

// departures tell pods that a drain deleted from those that somebody else did, which
// no object says. Scaling down, rolling out and deleting a workload look the same, but
// for this: the workload makes no new pod of the same revision instead. So a pod that
// is replaced was taken by the drain.
//
// Not judged are pods that were evicted, that Kubernetes itself says that it ended
// (condition DisruptionTarget), that no ReplicaSet, StatefulSet or
// ReplicationController owns, and that had to go for the deadline of their node.
// Whoever deletes a pod by hand on a node that is being drained looks like a drain.
type departures struct {
	workloads map[string]*workload // the owners of pods
	suspected []departure
}

// departure is a pod that was deleted in a drain. It is a breach if its workload comes
// to have as many pods again.
type departure struct {
	pod    *history.Object
	stood  []*history.Object
	at     time.Time
	until  time.Time
	wanted int // pods of its workload
	reason string
}

func newDepartures() departures { return departures{workloads: map[string]*workload{}} }

// count takes over the pods that are there at the start.
func (d *departures) count(w *history.World) {
	for _, pod := range w.List(karpenter.Pods) {
		if active(pod.Unstructured()) {
			d.workload(pod).change(1, time.Time{})
		}
	}
}

// leaves says whether a pod comes to be deleted, or to its end.
func leaves(m *check.Moment) bool {
	return m.Before != nil && active(m.Before.Unstructured()) &&
		(gone(m) || m.Before.UID != m.Event.Object.UID || !active(m.Event.Object.Unstructured()))
}

// see takes over what became of a pod, and judges those that were suspected.
func (d *departures) see(m *check.Moment) {
	pod := m.Event.Object
	if leaves(m) {
		d.workload(m.Before).change(-1, m.Time)
	}
	if !gone(m) && active(pod.Unstructured()) && (m.Before == nil || m.Before.UID != pod.UID || !active(m.Before.Unstructured())) {
		w := d.workload(pod)
		w.change(1, m.Time)
		d.replaced(m, w)
	}
	if gone(m) && ownedBy(pod.Unstructured(), "StatefulSet") {
		for i := range d.suspected {
			if d.suspected[i].pod.UID == pod.UID { // only now it can be made again
				d.suspected[i].until = m.Time.Add(replacedWithin)
			}
		}
	}
}

// takes suspects the drain of a claim's node of having deleted the pod that leaves.
// The reason says why it should not have.
func (d *departures) takes(m *check.Moment, claim *history.Object, reason string, stood ...*history.Object) {
	pod := m.Before.Unstructured()
	by := deadline(claim.Unstructured())
	forced := !by.IsZero() && !m.Time.Before(by.Add(-grace(pod)-time.Second))
	replaceable := ownedBy(pod, "ReplicaSet") || ownedBy(pod, "StatefulSet") || ownedBy(pod, "ReplicationController")
	if forced || !replaceable || karpenter.IsTrue(m.Event.Object.Unstructured(), string(corev1.DisruptionTarget)) {
		return
	}
	d.suspected = append(d.suspected, departure{
		pod: m.Before, stood: append(stood, claim), at: m.Time, until: m.Time.Add(replacedWithin),
		wanted: d.workload(m.Before).wanted(m.Time), reason: reason,
	})
}

// replaced judges the suspects, now that a workload has one more pod.
func (d *departures) replaced(m *check.Moment, w *workload) {
	d.suspected = slices.DeleteFunc(d.suspected, func(s departure) bool { return m.Time.After(s.until) })
	for _, s := range d.suspected {
		if d.workload(s.pod) == w && w.active >= s.wanted && revision(s.pod) == revision(m.Event.Object) {
			m.Suspect(fmt.Sprintf("pod %s/%s was deleted at %s while its node was drained, without an eviction and before any deadline; %s. "+
				"Its workload made pod %s instead, so it had not been scaled down",
				s.pod.Namespace, s.pod.Name, s.at.UTC().Format(time.TimeOnly), s.reason, m.Event.Object.Name), append([]*history.Object{s.pod}, s.stood...)...)
		}
	}
}

// workload is a pod's, made when first asked for.
func (d *departures) workload(pod *history.Object) *workload {
	id := pod.UID // a pod without an owner is one by itself
	if owners := list(pod.Unstructured(), "metadata", "ownerReferences"); len(owners) > 0 {
		uid, _ := owners[0]["uid"].(string)
		name, _ := owners[0]["name"].(string)
		id = pod.Namespace + "/" + name + "/" + uid
	}
	if d.workloads[id] == nil {
		d.workloads[id] = &workload{}
	}
	return d.workloads[id]
}

// draining is the NodeClaim of a pod's node, if that is being disrupted or drained.
func (f fleet) draining(w *history.World, pod *history.Object) *history.Object {
	node := w.Get(karpenter.Nodes, "", karpenter.PodNode(pod.Unstructured()))
	if node == nil {
		return nil
	}
	if claim := f.claimOf(node); claim != nil && (tainted(node) || deleting(node) || deleting(claim)) {
		return claim
	}
	return nil
}

// revision is which template of a StatefulSet a pod was made from (Kubernetes:
// apps/v1 ControllerRevisionHashLabelKey); a ReplicaSet has one only.
func revision(pod *history.Object) string {
	return karpenter.Label(pod.Unstructured(), "controller-revision-hash")
}
