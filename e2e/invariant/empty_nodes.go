package invariant

import (
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/e2e/history"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
)

// emptyBound is how long an empty node may stay after its pool's consolidateAfter. Karpenter
// writes Consolidatable, may validate two other consolidations (ConsolidationDelay each), looks
// again (DisruptionPoll), and validates the removal (ConsolidationDelay). That is about a minute;
// the rest is a margin for busy machines.
const emptyBound = 3 * time.Minute

// emptyNodesGo checks that Karpenter removes an empty node if its pool consolidates: within
// emptyBound after the pool's consolidateAfter, the node is being disrupted or deleted.
// Otherwise somebody pays for nothing. A node is empty as for reasonsAreTrue. The condition
// Consolidatable doesn't count, since it may be what is wrong.
//
// The time begins anew when the node, its NodeClaim or a pod on it changes. It also begins anew
// with whatever else Karpenter may wait for:
//
//   - A pod waits for a node. Karpenter may keep this one for it.
//   - A NodeClaim has no instance. Karpenter disrupts nothing before it knows the instance.
//   - Another node is being disrupted, deleted or rebooted, has drifted, or is not ready.
//     Budgets count it, and older releases look at drifted nodes before empty ones.
//   - A NodePool or a PodDisruptionBudget changes.
//   - The NodePool is static, isn't ready, or has budgets that allow no removal. A budget
//     with a schedule is taken to allow none.
//   - An annotation, or a PodDisruptionBudget for a daemon's pod, may hold the node.
//   - The node isn't initialized or ready, or has taints that its NodeClaim doesn't have. Or it
//     lacks a label without which older releases keep it.
//   - There are CapacityBuffers or NodeOverlays, the controller was killed, or the clock jumped.
//
// Nothing is judged after a hook of the adapter, a fault or an upgrade. Karpenter may know no
// instance types since then, and it removes no node without them.
func emptyNodesGo() Invariant {
	return Invariant{
		Name: "empty nodes are removed if their NodePool says so",
		Source: "NodePool spec.disruption.consolidateAfter; https://karpenter.sh/docs/concepts/disruption; " +
			"Karpenter: pkg/controllers/disruption/emptiness.go; types.go, NewCandidate; " +
			"pkg/controllers/nodeclaim/disruption/consolidation.go",
		Untested: "no node was removed because it was empty",
		OnlyHere: "no recording shows which instance types the cloud has, and what keeps the controller from its work",
		Reads: resources{
			karpenter.Pods, karpenter.Nodes, karpenter.NodeClaims, karpenter.NodePools, karpenter.PodDisruptionBudgets,
			karpenter.CapacityBuffers, karpenter.NodeOverlays, karpenter.Events,
		},
		New: func(Params) check.Monitor {
			return &emptyMonitor{
				nodeIndex: newNodeIndex(), pods: podsOnNodes{}, looks: newTimers(), since: map[string]time.Time{},
			}
		},
	}
}

type emptyMonitor struct {
	nodeIndex
	absence
	pods  podsOnNodes
	looks timers               // when to look at the nodes of NodePools, by name
	since map[string]time.Time // when nodes, their NodeClaims or their pods last changed, by the node's name
	busy  time.Time            // when something last kept Karpenter from removing any node
	over  bool                 // nothing is judged any more
}

func (e *emptyMonitor) Observe(m *check.Moment) {
	e.nodeIndex.observe(m)
	e.absence.observe(m)
	e.pods.observe(m)
	for _, node := range m.Seen(karpenter.Nodes) {
		if _, known := e.looks.due[node.Name]; !known && karpenter.NodePoolOf(node.Unstructured()) != "" {
			e.looks.set(node.Name, m.Time.Add(emptyBound))
		}
	}
	switch {
	case m.End:
	case m.Event == nil:
		e.busy = m.Time
	case m.Resource() == karpenter.Events:
		reason, _ := eventOf(m, Harness, "", ReasonHook, ReasonFault, ReasonUpgrade)
		e.over = e.over || reason != ""
	default:
		e.learn(m, m.Event.Object)
		if m.Before != nil {
			e.learn(m, m.Before)
		}
	}
	for _, name := range e.looks.expired(m.Time) {
		e.look(m, name)
	}
}

// learn notes what an object says, as it was or is, about when the time begins anew.
func (e *emptyMonitor) learn(m *check.Moment, o *history.Object) {
	// A NodePool, PodDisruptionBudget, CapacityBuffer or NodeOverlay may hold all nodes.
	u, holdsAll := o.Unstructured(), true
	switch m.Resource() {
	case karpenter.Pods:
		e.since[karpenter.PodNode(u)] = m.Time
		holdsAll = waitsForNode(o)
	case karpenter.NodeClaims:
		e.since[karpenter.NodeClaimNode(u)] = m.Time
		holdsAll = isUnsettled(o)
		if becomesTrue(m, karpenter.DisruptionReason) && voluntaryReason(u) == empty {
			m.Tested()
		}
	case karpenter.Nodes:
		e.since[o.Name] = m.Time
		holdsAll = karpenter.NodePoolOf(u) != "" && isOutOfUse(o)
	}
	if holdsAll {
		e.busy = m.Time
	}
}

// look judges a node if it has been empty for so long that it should be gone. Otherwise it says
// when to look again.
func (e *emptyMonitor) look(m *check.Moment, name string) {
	node := m.World.Get(karpenter.Nodes, "", name)
	if node == nil {
		delete(e.since, name)
		return
	}
	pool := m.World.Get(karpenter.NodePools, "", karpenter.NodePoolOf(node.Unstructured()))
	after, consolidates := consolidateAfter(pool)
	if e.over || !consolidates || !e.mayGo(m.World, node) || !allowsRemoval(m.World, pool, m.Time) || isHeld(m.World) {
		e.since[name] = m.Time
		e.looks.set(name, m.Time.Add(emptyBound))
		return
	}
	since := e.since[name]
	if since.Before(e.busy) {
		since = e.busy
	}
	if due := e.due(since, after+emptyBound); !m.Time.After(due) {
		e.looks.set(name, due)
		return
	}
	m.Suspect("node %s has been empty for %s, and is neither disrupted nor deleted; NodePool %s says consolidateAfter: %s",
		node, m.Time.Sub(since).Round(time.Second), pool, after).Beside(e.nodeClaimOf(node))
}

// consolidateAfter returns a NodePool's consolidateAfter, and whether it consolidates nodes at
// present. The pool may be nil.
func consolidateAfter(pool *history.Object) (after time.Duration, consolidates bool) {
	if pool == nil || isDeleting(pool) || !isTrue(pool, karpenter.Ready) {
		return 0, false
	}
	if _, static := replicasOf(pool); static {
		return 0, false
	}
	after, err := time.ParseDuration(textAt(pool.Unstructured(), "spec", "disruption", "consolidateAfter"))
	return after, err == nil
}

// mayGo reports whether a node is empty, and neither it nor its NodeClaim says that it stays.
func (e *emptyMonitor) mayGo(w *history.World, node *history.Object) bool {
	nodeClaim := e.nodeClaimOf(node)
	lacks := func(label string) bool { return karpenter.Label(node.Unstructured(), label) == "" }
	protected := func(o *history.Object) bool {
		return fieldAt(o.Unstructured(), "metadata", "annotations", karpenter.DoNotDisruptAnnotation) != nil
	}
	// Karpenter up to v1.0 removes only nodes with these labels (pkg/controllers/state/statenode.go,
	// ValidateNodeDisruptable).
	labels := []string{karpenter.CapacityTypeLabel, corev1.LabelTopologyZone, corev1.LabelInstanceTypeStable}
	if nodeClaim == nil || slices.ContainsFunc(labels, lacks) || protected(node) || protected(nodeClaim) ||
		!isLabeled(node, karpenter.InitializedLabel) || !isTrue(nodeClaim, karpenter.Initialized) ||
		!mayTakePods(node, nodeClaim) {
		return false
	}
	return !slices.ContainsFunc(e.pods.podsOf(node.Name), func(pod boundPod) bool {
		u := pod.Unstructured()
		return mustMove(u) || karpenter.Deleting(u) || mayBeHeld(w, pod.Object)
	})
}

// allowsRemoval reports whether a NodePool's budgets certainly allow the removal of an empty node.
func allowsRemoval(w *history.World, pool *history.Object, now time.Time) bool {
	for _, budget := range objectsAt(pool.Unstructured(), "spec", "disruption", "budgets") {
		if budget["schedule"] != nil {
			return false
		}
	}
	nodes, out := 0, 0
	for _, node := range w.List(karpenter.Nodes) {
		if karpenter.NodePoolOf(node.Unstructured()) != pool.Name || !isLabeled(node, karpenter.InitializedLabel) {
			continue
		}
		nodes++
		if isOutOfUse(node) {
			out++
		}
	}
	return karpenter.AllowedDisruptions(karpenter.Budgets(pool.Unstructured()), nodes, empty, now) > out
}

// isHeld reports whether something may keep Karpenter from removing any node.
func isHeld(w *history.World) bool {
	return len(w.List(karpenter.CapacityBuffers))+len(w.List(karpenter.NodeOverlays)) > 0 ||
		slices.ContainsFunc(w.List(karpenter.NodeClaims), isUnsettled) ||
		slices.ContainsFunc(w.List(karpenter.Pods), waitsForNode)
}

// isUnsettled reports whether a NodeClaim has no instance yet, or is about to go or to change.
func isUnsettled(nodeClaim *history.Object) bool {
	return karpenter.NodeClaimProviderID(nodeClaim.Unstructured()) == "" || isDeleting(nodeClaim) ||
		isTrue(nodeClaim, karpenter.Drifted) || isTrue(nodeClaim, karpenter.DisruptionReason) ||
		isTrue(nodeClaim, karpenter.Rebooting) || isTrue(nodeClaim, karpenter.InstanceTerminating)
}

// isOutOfUse reports whether a node is not ready, or about to go.
func isOutOfUse(node *history.Object) bool {
	return !karpenter.NodeReady(node.Unstructured()) || isDeleting(node) || hasDisruptedTaint(node)
}

// waitsForNode reports whether Karpenter may look for a node for a pod.
func waitsForNode(pod *history.Object) bool {
	u := pod.Unstructured()
	return karpenter.PodNode(u) == "" && !isTerminal(u) && !ownedBy(u, "DaemonSet")
}
