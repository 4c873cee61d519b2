package invariant

import (
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/e2e/history"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
)

// doNotDisruptHolds checks that pods can forbid their disruption:
//
//   - A pod with the annotation karpenter.sh/do-not-disrupt is never evicted, and no drain
//     deletes it (see podDeletions) before the deadline of its node.
//   - Its node is not chosen for voluntary disruption (Drifted, Underutilized, Empty), unless
//     it has drifted and has a terminationGracePeriod.
//   - No pod is deleted by force before that deadline less the pod's own grace period, or at
//     all without a deadline. Such a deletion bypasses PodDisruptionBudgets.
//
// The third rule needs Karpenter's report of the deletion (event Disrupted on the pod),
// because anybody may delete a pod. podBudgetsHold judges PodDisruptionBudgets. An annotation
// with a duration is not judged.
func doNotDisruptHolds() Invariant {
	return Invariant{
		Name: "pods that forbid disruption are not disrupted",
		Source: "annotation karpenter.sh/do-not-disrupt; designs/nodeclaim-termination-grace-period.md; " +
			"Karpenter: pkg/apis/v1/nodeclaim.go, terminationGracePeriod; " +
			"pkg/controllers/state/statenode.go, ValidatePodsDisruptable",
		Untested: "no node with a protected pod had a reason to be disrupted, and no pod was deleted by force",
		Reads:    resources{karpenter.Pods, karpenter.NodeClaims, karpenter.Events},
		New: func(Params) check.Monitor {
			return &doNotDisruptMonitor{
				lastNodeClaims{}, newPodDeletions(), podsOnNodes{}, map[string]time.Time{}, map[string]*history.Object{},
			}
		},
	}
}

type doNotDisruptMonitor struct {
	lastNodeClaims
	podDeletions
	pods      podsOnNodes
	protected map[string]time.Time       // when pods became protected, by UID; zero if they always were
	gone      map[string]*history.Object // pods that are gone, by UID
}

func (d *doNotDisruptMonitor) Observe(m *check.Moment) {
	d.lastNodeClaims.observe(m)
	d.podDeletions.observe(m)
	d.pods.observe(m)
	switch m.Resource() {
	case karpenter.Pods:
		d.judgePod(m, m.Event.Object)
	case karpenter.NodeClaims:
		d.judgeChoice(m, m.Event.Object)
	case karpenter.Events:
		d.judgeForced(m)
	}
	for _, pod := range m.Seen(karpenter.Pods) {
		d.learn(m, pod)
	}
}

// learn notes when a pod became protected.
func (d *doNotDisruptMonitor) learn(m *check.Moment, pod *history.Object) {
	if _, known := d.protected[pod.UID]; !isProtected(pod.Unstructured()) {
		delete(d.protected, pod.UID)
	} else if !known && m.Before == nil {
		d.protected[pod.UID] = time.Time{} // it has always had the annotation
	} else if !known {
		d.protected[pod.UID] = m.Time
	}
}

// isLong reports whether a pod has been protected long enough for controllers to know.
func (d *doNotDisruptMonitor) isLong(pod *history.Object, now time.Time) bool {
	since, is := d.protected[pod.UID]
	return is && (since.IsZero() || now.Sub(since) > stale)
}

// judgePod judges the eviction or deletion of a protected pod.
func (d *doNotDisruptMonitor) judgePod(m *check.Moment, pod *history.Object) {
	if nodeClaim := d.lastNodeClaims[karpenter.PodNode(pod.Unstructured())]; nodeClaim != nil && d.isLong(pod, m.Time) {
		switch {
		case becomesEvicted(m) && isActive(m.Before.Unstructured()):
			m.Tested()
			m.Broken("pod %s has the annotation %s, and was evicted", pod, karpenter.DoNotDisruptAnnotation).Beside(nodeClaim)
		case becomesInactive(m) && (isDeleting(nodeClaim) || isTrue(nodeClaim, karpenter.DisruptionReason)):
			m.Tested()
			d.suspect(m, nodeClaim, "it has the annotation "+karpenter.DoNotDisruptAnnotation)
		}
	}
	if m.Deleted() {
		d.gone[pod.UID] = pod
		delete(d.protected, pod.UID)
	}
}

// judgeChoice judges the choice of a node for disruption.
func (d *doNotDisruptMonitor) judgeChoice(m *check.Moment, nodeClaim *history.Object) {
	chosen := becomesTrue(m, karpenter.DisruptionReason)
	if !chosen && !becomesTrue(m, karpenter.Drifted) && !becomesTrue(m, karpenter.Consolidatable) && !becomesDeleting(m) {
		return
	}
	why := voluntaryReason(nodeClaim.Unstructured())
	// The drain of a drifted node waits for the pod, up to the deadline.
	waits := why == drifted && textAt(nodeClaim.Unstructured(), "spec", "terminationGracePeriod") != ""
	for _, pod := range d.pods.podsOf(karpenter.NodeClaimNode(nodeClaim.Unstructured())) {
		if _, is := d.protected[pod.UID]; !is || !isActive(pod.Unstructured()) {
			continue
		}
		m.Tested()
		known := d.isLong(pod.Object, m.Time) && m.Time.Sub(pod.since) > stale
		if chosen && known && why != "" && !waits {
			m.Broken("the node of NodeClaim %s is disrupted (%s) although pod %s on it has the annotation %s",
				nodeClaim, why, pod.Object, karpenter.DoNotDisruptAnnotation)
		}
	}
}

// judgeForced judges a deletion by force that Karpenter reports.
func (d *doNotDisruptMonitor) judgeForced(m *check.Moment) {
	reason, about := eventOf(m, karpenter.EventSource, "Pod", "Disrupted")
	if reason == "" {
		return
	}
	pod := m.World.Get(karpenter.Pods, about.Namespace, about.Name)
	if pod == nil || pod.UID != about.UID {
		pod = d.gone[about.UID]
	}
	if pod == nil {
		return
	}
	nodeClaim := d.lastNodeClaims[karpenter.PodNode(pod.Unstructured())]
	if nodeClaim == nil {
		return
	}
	m.Tested()
	switch from := forceTime(nodeClaim.Unstructured(), pod.Unstructured()); {
	case from.IsZero():
		m.Suspect("Karpenter deleted pod %s by force, past the Eviction API, and nothing bounds the drain of its node: "+
			"NodeClaim %s has no terminationGracePeriod", pod, nodeClaim)
	case m.Time.Before(from):
		by := timeOfDay(drainDeadline(nodeClaim.Unstructured()))
		m.Suspect("Karpenter deleted pod %s by force, past the Eviction API, at %s; its grace period of %s ends before "+
			"the drain must, at %s", pod, timeOfDay(m.Time), gracePeriod(pod.Unstructured()), by).Beside(nodeClaim)
	}
}

// voluntaryReason returns why Karpenter disrupts a NodeClaim voluntarily; empty if it does
// not. Repair is not voluntary.
func voluntaryReason(nodeClaim *unstructured.Unstructured) string {
	c, _ := karpenter.Condition(nodeClaim, karpenter.DisruptionReason)
	if c.Status == "True" && (c.Reason == drifted || c.Reason == underutilized || c.Reason == empty) {
		return c.Reason
	}
	return ""
}
