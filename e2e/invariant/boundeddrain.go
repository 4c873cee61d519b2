package invariant

import (
	"fmt"
	"time"

	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/e2e/history"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
)

// lateness is how long after its time a drain may be done with a pod. Karpenter
// tries an eviction again after ten seconds at most
// (pkg/controllers/node/termination/terminator/eviction.go).
const lateness = 15 * time.Second

// lag is how far the cache of a controller may be behind the API server.
const lag = time.Second

// boundedDrain says that drains have an end and an order:
//
//   - when the terminationGracePeriod of a NodeClaim is over, counted from its
//     deletion, every pod on its node that the drain waits for has been told to go,
//     and has no longer to live than that; the annotation that says when this is may
//     name an earlier time, but no later one;
//   - pods are evicted in turn: first those that are neither critical nor of a
//     DaemonSet, then daemons, then critical pods, then critical daemons; no turn
//     begins while a pod of an earlier one is there, unless its own time to be
//     deleted by force has come;
//   - the drain isn't said to be over (condition Drained), and the instance of a ready
//     node isn't ended (InstanceTerminating), while a pod is there that it waits for.
//
// Pods that come while the drain is under way hold no turn. How long the instance
// takes to end after the drain is the provider's business and not judged.
//
// Sources: Karpenter, pkg/apis/v1/nodeclaim.go (terminationGracePeriod),
// designs/nodeclaim-termination-grace-period.md,
// pkg/controllers/node/termination/terminator/terminator.go (Drain), after
// https://kubernetes.io/docs/concepts/cluster-administration/node-shutdown/.
func boundedDrain() Invariant {
	const name = "drains end in time, and pods leave in turn"
	return Invariant{
		Name:   name,
		Source: "NodeClaim spec.terminationGracePeriod; designs/nodeclaim-termination-grace-period.md",
		Check: func(Params) check.Check {
			return check.Follow(name, "no node with pods was drained up to a deadline, and none had pods of different turns",
				func() func(*check.Moment) {
					d := drain{pods: residents{}, due: map[string]time.Time{}, began: map[string]time.Time{}, claims: map[string]*history.Object{}}
					return d.see
				}, karpenter.Pods, karpenter.NodeClaims, karpenter.Nodes)
		},
	}
}

// drain follows the drains of all nodes.
type drain struct {
	pods   residents
	claims map[string]*history.Object // NodeClaims, by the name of their node
	due    map[string]time.Time       // when the pods of a node must be gone, by its name
	first  time.Time                  // of the due times
	began  map[string]time.Time       // since when a node is being drained, by its name
}

func (d *drain) see(m *check.Moment) {
	if !d.first.IsZero() && m.Time.After(d.first) {
		d.overdue(m)
	}
	switch {
	case m.End:
	case m.Event == nil:
		d.pods.start(m.World)
		for _, claim := range m.World.List(karpenter.NodeClaims) {
			d.claim(m, claim)
		}
	case m.Event.Resource == karpenter.Pods:
		d.pods.see(m.Event.Object, gone(m), m.Time)
		if evictedHere(m) {
			d.turn(m)
		}
	case m.Event.Resource == karpenter.Nodes:
		if beginsToGo(m) {
			d.began[m.Event.Object.Name] = m.Time
		}
	default:
		d.claim(m, m.Event.Object)
		if m.Before != nil && !gone(m) {
			d.over(m)
		}
	}
}

// claim notes by when a node must be drained.
func (d *drain) claim(m *check.Moment, o *history.Object) {
	claim := o.Unstructured()
	node := karpenter.ClaimNode(claim)
	if node == "" {
		return
	}
	d.claims[node] = o
	if said, by := annotatedDeadline(claim), specDeadline(claim); !by.IsZero() && said.After(by.Add(lateness)) {
		m.Broken(fmt.Sprintf("NodeClaim %s puts the end of its drain off to %s by the annotation %s, and its terminationGracePeriod ends at %s",
			o.Name, said.UTC().Format(time.TimeOnly), karpenter.TerminationTimestampAnnotation, by.UTC().Format(time.TimeOnly)), o)
	}
	if by := deadline(claim); m.Event != nil && gone(m) || by.IsZero() || !karpenter.Deleting(claim) {
		delete(d.due, node)
	} else {
		if _, known := d.due[node]; !known && d.waitsFor(node) {
			m.Tested()
		}
		d.due[node] = by.Add(lateness)
	}
	d.first = time.Time{}
	for _, t := range d.due {
		if d.first.IsZero() || t.Before(d.first) {
			d.first = t
		}
	}
}

func (d *drain) waitsFor(node string) bool {
	for _, r := range d.pods[node] {
		if drains(r.pod.Unstructured()) {
			return true
		}
	}
	return false
}

// overdue judges the nodes whose time is over.
func (d *drain) overdue(m *check.Moment) {
	d.first = time.Time{}
	for node, t := range d.due {
		if !m.Time.After(t) {
			if d.first.IsZero() || t.Before(d.first) {
				d.first = t
			}
			continue
		}
		delete(d.due, node)
		for _, r := range d.pods[node] {
			pod, by := r.pod.Unstructured(), t.Add(-lateness)
			ends := moment(pod, "metadata", "deletionTimestamp")
			if drains(pod) && r.since.Before(by) && (ends.IsZero() || ends.After(t)) {
				m.Suspect(fmt.Sprintf("the drain of node %s had to be over at %s; %s later pod %s/%s is there that was not told to end by then",
					node, by.UTC().Format(time.TimeOnly), m.Time.Sub(by).Round(time.Second), r.pod.Namespace, r.pod.Name), r.pod, d.claims[node])
			}
		}
	}
}

// over judges the end of a drain.
func (d *drain) over(m *check.Moment) {
	claim := m.Event.Object
	name := karpenter.ClaimNode(claim.Unstructured())
	began, draining := d.began[name]
	if !draining || !becomes(m, karpenter.Drained) && !becomes(m, karpenter.InstanceTerminating) {
		return
	}
	node := m.World.Get(karpenter.Nodes, "", name)
	if node == nil || !karpenter.NodeReady(node.Unstructured()) {
		return // its instance is gone already, and its pods with it
	}
	m.Tested()
	for _, r := range d.pods[name] {
		if drains(r.pod.Unstructured()) && r.since.Before(began.Add(-lag)) && !d.forced(name, r, m.Time) {
			m.Suspect(fmt.Sprintf("node %s counts as drained, or its instance is being ended, and pod %s/%s that should have left is still on it",
				name, r.pod.Namespace, r.pod.Name), r.pod, claim)
		}
	}
}

// turn judges the eviction of a pod by the others that are on its node.
func (d *drain) turn(m *check.Moment) {
	pod := m.Event.Object
	node := karpenter.PodNode(pod.Unstructured())
	began, draining := d.began[node]
	if !draining {
		return
	}
	mine, tested := tier(pod.Unstructured()), false
	for uid, r := range d.pods[node] {
		other := r.pod.Unstructured()
		if uid == pod.UID || !drains(other) {
			continue
		}
		tested = tested || tier(other) != mine
		if tier(other) < mine && r.since.Before(began.Add(-lag)) && !d.forced(node, r, m.Time) {
			m.Suspect(fmt.Sprintf("pod %s (%s) was evicted before %s (%s) was gone, which has to leave earlier",
				pod.Name, tierName(mine), r.pod.Name, tierName(tier(other))), pod, r.pod)
		}
	}
	if tested || mine > 0 {
		m.Tested()
	}
}

// forced says whether a pod is, or may be, beyond a drain's reach: about to be
// deleted by force, or not ending for more than a minute.
func (d *drain) forced(node string, r resident, now time.Time) bool {
	pod := r.pod.Unstructured()
	if ends := moment(pod, "metadata", "deletionTimestamp"); !ends.IsZero() && now.Sub(ends) > time.Minute-stale {
		return true
	}
	claim := d.claims[node]
	if claim == nil {
		return false
	}
	by := deadline(claim.Unstructured())
	return !by.IsZero() && now.After(by.Add(-grace(pod)-time.Second))
}
