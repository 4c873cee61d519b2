package invariant

import (
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/watch"

	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/e2e/history"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
)

const (
	// schedulerLag is how long after the taint the scheduler may still bind a pod,
	// since it decided before it saw the taint. Karpenter itself reckons with it
	// (Karpenter: pkg/controllers/node/termination, MinDrainTime).
	schedulerLag = 2 * time.Second
	// giveUpLag is how long a node may keep the taint after its disruption was
	// given up. Karpenter removes both at once, and what it failed to remove in its
	// next round, 10 s later at most (Karpenter: pkg/controllers/disruption,
	// pollingPeriod).
	giveUpLag = 30 * time.Second
)

// taintedFirst is that a node which Karpenter disrupts has the disrupted taint
// before its deletion begins and before any pod is evicted from it, until it is
// gone; that no pod is bound to it after; and that the taint goes away if the
// disruption is given up. Else pods move to a node that is about to go, or a node
// stays out of use for ever.
//
// Source: designs/disruption-controls.md and the docs on disruption (the taint
// comes first); Karpenter: pkg/controllers/disruption/queue.go, markDisrupted, and
// pkg/controllers/node/termination.
//
// Evictions are told from other departures by the pod's condition DisruptionTarget
// (Kubernetes: EvictionByEvictionAPI). That a disruption was begun and given up is
// told by the NodeClaim's condition DisruptionReason; releases before v1.5 don't
// have it, and with them that part isn't judged.
func taintedFirst() Invariant {
	const name = "nodes are tainted before they are disrupted, and as long"
	return Invariant{
		Name:   name,
		Source: "karpenter.sh/disrupted taint, NodeClaim condition DisruptionReason; Karpenter: designs/disruption-controls.md, pkg/controllers/disruption/queue.go",
		Check: func(Params) check.Check {
			return check.Follow(name, "no node was disrupted", func() func(*check.Moment) {
				d := &disruptionTaints{newFleet(), map[string]time.Time{}, map[string]time.Time{}}
				return d.follow
			}, karpenter.Nodes, karpenter.NodeClaims, karpenter.Pods)
		},
	}
}

type disruptionTaints struct {
	fleet
	since   map[string]time.Time // when nodes got the taint, by name
	givenUp map[string]time.Time // when disruptions were given up, by the node's name
}

func (d *disruptionTaints) follow(m *check.Moment) {
	d.see(m)
	d.overdue(m)
	switch {
	case m.Event == nil:
	case m.Event.Resource == karpenter.Nodes:
		d.node(m, m.Event.Object)
	case m.Event.Resource == karpenter.NodeClaims:
		d.claim(m, m.Event.Object)
	case m.Event.Type != watch.Deleted:
		d.pod(m, m.Event.Object)
	}
}

func (d *disruptionTaints) node(m *check.Moment, node *history.Object) {
	if m.Event.Type == watch.Deleted {
		delete(d.since, node.Name)
		delete(d.givenUp, node.Name)
		return
	}
	had := m.Before != nil && tainted(m.Before)
	switch has := tainted(node); {
	case has && !had:
		d.since[node.Name] = m.Time
	case had && !has:
		delete(d.since, node.Name)
		delete(d.givenUp, node.Name)
		if deleting(m.Before) && deleting(node) {
			m.Broken(fmt.Sprintf("node %s is being deleted and loses the taint %s", node.Name, karpenter.DisruptedTaint), node)
		}
	}
}

// claim judges the beginning of the deletion, and notes what is given up.
func (d *disruptionTaints) claim(m *check.Moment, claim *history.Object) {
	if m.Before == nil || !reached(m.Before, karpenter.DisruptionReason) {
		return
	}
	node := d.nodeOf(claim)
	if node == nil || m.Event.Type == watch.Deleted {
		return
	}
	switch {
	case deleting(claim) && !deleting(m.Before):
		m.Tested()
		if !tainted(node) {
			m.Suspect(fmt.Sprintf("NodeClaim %s is being deleted to disrupt node %s, which lacks the taint %s", claim.Name, node.Name, karpenter.DisruptedTaint), claim, node)
		}
	case !deleting(claim) && !reached(claim, karpenter.DisruptionReason):
		m.Tested()
		if tainted(node) {
			d.givenUp[node.Name] = m.Time
		}
	}
}

// pod judges evictions and bindings.
func (d *disruptionTaints) pod(m *check.Moment, pod *history.Object) {
	u := pod.Unstructured()
	on := karpenter.PodNode(u)
	if on == "" {
		return
	}
	node := m.World.Get(karpenter.Nodes, "", on)
	if node == nil || karpenter.NodePoolOf(node.Unstructured()) == "" {
		return
	}
	if evictedHere(m) {
		d.evicted(m, pod, node)
	}
	bound := m.Before == nil || m.Before.UID != pod.UID || karpenter.PodNode(m.Before.Unstructured()) != on
	since, there := d.since[on]
	if bound && there && m.Time.Sub(since) > schedulerLag && !toleratesDisruption(u) && !ownedBy(u, "Node") {
		m.Suspect(fmt.Sprintf("pod %s/%s is bound to node %s, %s after it got the taint %s",
			pod.Namespace, pod.Name, on, m.Time.Sub(since).Round(time.Millisecond), karpenter.DisruptedTaint), pod, node)
	}
}

func (d *disruptionTaints) evicted(m *check.Moment, pod, node *history.Object) {
	claim := d.claimOf(node)
	if !deleting(node) && !deleting(claim) && (claim == nil || !reached(claim, karpenter.DisruptionReason)) {
		return // by somebody else than Karpenter
	}
	m.Tested()
	if !tainted(node) {
		m.Suspect(fmt.Sprintf("pod %s/%s is evicted from node %s, which lacks the taint %s", pod.Namespace, pod.Name, node.Name, karpenter.DisruptedTaint), pod, node)
	}
}

// overdue judges what was given up.
func (d *disruptionTaints) overdue(m *check.Moment) {
	for name, at := range d.givenUp {
		node := m.World.Get(karpenter.Nodes, "", name)
		claim := (*history.Object)(nil)
		if node != nil {
			claim = d.claimOf(node)
		}
		switch {
		case node == nil || deleting(node) || deleting(claim) || claim != nil && reached(claim, karpenter.DisruptionReason):
			delete(d.givenUp, name)
		case m.Time.Sub(at) > giveUpLag:
			m.Suspect(fmt.Sprintf("node %s has the taint %s still, %s after its disruption was given up", name, karpenter.DisruptedTaint, giveUpLag), node, claim)
		}
	}
}
