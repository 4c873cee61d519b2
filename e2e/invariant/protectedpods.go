package invariant

import (
	"bytes"
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/e2e/history"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
)

// protectedPods says that a pod's wish not to be disrupted is respected:
//
//   - a pod with the annotation karpenter.sh/do-not-disrupt is never evicted, nor
//     deleted by a drain (see departures) before the deadline of its node;
//   - its node is not chosen for voluntary disruption (Drifted, Underutilized,
//     Empty), unless it has drifted and has a terminationGracePeriod;
//   - no pod, protected or not, is deleted by force before that deadline less the
//     pod's own grace period, nor at all where there is no deadline. Such a
//     deletion passes PodDisruptionBudgets by.
//
// The third rule is judged where Karpenter reports such a deletion (event Disrupted on
// the pod): anybody else may delete a pod. What PodDisruptionBudgets say is judged by
// podBudgetsHeld. A protection by annotation with a duration is not judged.
//
// Sources: Karpenter, pkg/apis/v1/nodeclaim.go (terminationGracePeriod),
// designs/nodeclaim-termination-grace-period.md, pkg/controllers/state/statenode.go
// (ValidatePodsDisruptable).
func protectedPods() Invariant {
	const name = "pods that must not be disrupted are not"
	return Invariant{
		Name:   name,
		Source: "annotation karpenter.sh/do-not-disrupt; designs/nodeclaim-termination-grace-period.md",
		Check: func(Params) check.Check {
			return check.Follow(name, "no node with a protected pod had a reason to be disrupted, and no pod was deleted by force",
				func() func(*check.Moment) {
					g := guard{
						departures: newDepartures(), pods: residents{}, protected: map[string]time.Time{},
						claims: map[string]*history.Object{}, left: map[string]*history.Object{},
					}
					return g.see
				}, karpenter.Pods, karpenter.NodeClaims, karpenter.Events)
		},
	}
}

// guard watches over protected pods.
type guard struct {
	departures
	pods      residents
	protected map[string]time.Time       // since when, by the pod's UID; zero if it was made so
	claims    map[string]*history.Object // last state of the NodeClaim of each node, by the node's name
	left      map[string]*history.Object // pods that are gone, by UID
}

func (g *guard) see(m *check.Moment) {
	switch {
	case m.End:
	case m.Event == nil:
		g.count(m.World)
		for _, pod := range m.World.List(karpenter.Pods) {
			g.pods.see(pod, false, time.Time{})
			g.learn(pod, false, time.Time{})
		}
		for _, claim := range m.World.List(karpenter.NodeClaims) {
			g.claims[karpenter.ClaimNode(claim.Unstructured())] = claim
		}
	case m.Event.Resource == karpenter.Pods:
		g.pod(m)
	case m.Event.Resource == karpenter.NodeClaims:
		g.claims[karpenter.ClaimNode(m.Event.Object.Unstructured())] = m.Event.Object
		g.claim(m)
	default:
		g.report(m)
	}
}

// learn notes since when a pod is protected.
func (g *guard) learn(pod *history.Object, gone bool, since time.Time) {
	switch _, known := g.protected[pod.UID]; {
	case gone:
		g.left[pod.UID] = pod
		delete(g.protected, pod.UID)
	case !protected(pod.Unstructured()):
		delete(g.protected, pod.UID)
	case !known:
		g.protected[pod.UID] = since
	}
}

// pod judges the eviction of a protected pod.
func (g *guard) pod(m *check.Moment) {
	pod, since := m.Event.Object, m.Time
	if m.Before == nil {
		since = time.Time{} // it is made with the annotation: nobody knows it without
	}
	g.departures.see(m)
	if claim := g.claims[karpenter.PodNode(pod.Unstructured())]; claim != nil && g.isLong(pod, m.Time) {
		switch {
		case evictedHere(m) && active(m.Before.Unstructured()):
			m.Tested()
			m.Broken(fmt.Sprintf("pod %s/%s has the annotation %s, and was evicted", pod.Namespace, pod.Name, karpenter.DoNotDisruptAnnotation), pod, claim)
		case leaves(m) && (deleting(claim) || reached(claim, karpenter.DisruptionReason)):
			m.Tested()
			g.takes(m, claim, "it has the annotation "+karpenter.DoNotDisruptAnnotation)
		}
	}
	g.pods.see(pod, gone(m), m.Time)
	g.learn(pod, gone(m), since)
}

// isLong says whether a pod has been protected for so long that everybody knows.
func (g *guard) isLong(pod *history.Object, now time.Time) bool {
	since, is := g.protected[pod.UID]
	return is && (since.IsZero() || now.Sub(since) > stale)
}

// claim judges the choice of a node for disruption.
func (g *guard) claim(m *check.Moment) {
	claim := m.Event.Object.Unstructured()
	chosen := becomes(m, karpenter.DisruptionReason)
	if !chosen && !becomes(m, karpenter.Drifted) && !becomes(m, karpenter.Consolidatable) && !beginsToGo(m) {
		return
	}
	for uid, r := range g.pods[karpenter.ClaimNode(claim)] {
		if _, is := g.protected[uid]; !is || !active(r.pod.Unstructured()) {
			continue
		}
		m.Tested()
		settled := g.isLong(r.pod, m.Time) && m.Time.Sub(r.since) > stale
		if why := voluntaryReason(claim); chosen && settled && why != "" && !mayDrainPast(claim, why) {
			m.Broken(fmt.Sprintf("the node of NodeClaim %s is disrupted (%s) although pod %s/%s on it has the annotation %s",
				m.Event.Object.Name, why, r.pod.Namespace, r.pod.Name, karpenter.DoNotDisruptAnnotation), r.pod, m.Event.Object)
		}
	}
}

// report judges a deletion by force that Karpenter reports.
func (g *guard) report(m *check.Moment) {
	if !bytes.Contains(m.Event.Object.Raw(), []byte(`"Disrupted"`)) || gone(m) {
		return // most events end here, without being decoded
	}
	event := m.Event.Object.Unstructured()
	about := karpenter.EventInvolved(event)
	if karpenter.EventReason(event) != "Disrupted" || karpenter.EventComponent(event) != karpenter.EventSource || about.Kind != "Pod" {
		return
	}
	pod := m.World.Get(karpenter.Pods, about.Namespace, about.Name)
	if pod == nil || pod.UID != about.UID {
		pod = g.left[about.UID]
	}
	if pod == nil {
		return
	}
	claim := g.claims[karpenter.PodNode(pod.Unstructured())]
	if claim == nil {
		return
	}
	m.Tested()
	switch by := deadline(claim.Unstructured()); {
	case by.IsZero():
		m.Suspect(fmt.Sprintf("Karpenter deleted pod %s/%s by force, past the Eviction API, and nothing bounds the drain of its node: "+
			"NodeClaim %s has no terminationGracePeriod", pod.Namespace, pod.Name, claim.Name), pod, claim)
	case m.Time.Before(by.Add(-grace(pod.Unstructured()) - time.Second)):
		m.Suspect(fmt.Sprintf("Karpenter deleted pod %s/%s by force, past the Eviction API, at %s; its grace period of %s ends before the drain must, at %s",
			pod.Namespace, pod.Name, m.Time.UTC().Format(time.TimeOnly), grace(pod.Unstructured()), by.UTC().Format(time.TimeOnly)), pod, claim)
	}
}

// voluntaryReason is why Karpenter disrupts a claim, empty if it doesn't, or not
// by choice (repair).
func voluntaryReason(claim *unstructured.Unstructured) string {
	c, _ := karpenter.Condition(claim, karpenter.DisruptionReason)
	switch {
	case c.Status != "True":
		return ""
	case c.Reason == "Drifted" || c.Reason == "Underutilized" || c.Reason == "Empty":
		return c.Reason
	default:
		return ""
	}
}

// mayDrainPast says whether a protected pod doesn't keep its node from being
// chosen: its drain waits for the pod, up to the deadline.
func mayDrainPast(claim *unstructured.Unstructured, why string) bool {
	return why == "Drifted" && text(claim, "spec", "terminationGracePeriod") != ""
}

// becomes says whether a condition is true from this event on.
func becomes(m *check.Moment, condition string) bool {
	return karpenter.IsTrue(m.Event.Object.Unstructured(), condition) && (m.Before == nil || !karpenter.IsTrue(m.Before.Unstructured(), condition))
}

// beginsToGo says whether somebody asked for the object's deletion right before
// this event.
func beginsToGo(m *check.Moment) bool {
	return karpenter.Deleting(m.Event.Object.Unstructured()) && (m.Before == nil || !karpenter.Deleting(m.Before.Unstructured()))
}
