package invariant

import (
	"time"

	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/e2e/history"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
)

// lifecycleCloses checks that instances, NodeClaims and nodes come and go together. A
// NodeClaim gets one instance and keeps it. An instance belongs to one NodeClaim and is one
// node. A NodeClaim goes after its node. None of them, and no pod, stays alone longer than its
// bound (see orphans), because that costs money for nothing.
//
// An instance shows only as a node. Instances that never join are judged by the provider's own
// list of instances. A bound that is not over at the end is not judged. The exception is a
// Karpenter node that is alone when all pools and NodeClaims are gone, as after a cleanup. The
// KWOK provider leaves one when a NodeClaim is deleted during its launch: its Delete leaves
// the node to a registration that never comes.
func lifecycleCloses() Invariant {
	return Invariant{
		Name: "instances, NodeClaims, nodes and pods come and go together",
		Source: "NodeClaim status.providerID, Node spec.providerID; " +
			"Karpenter: pkg/controllers/nodeclaim/lifecycle, nodeclaim/garbagecollection, nodeclaim/consistency",
		Untested: "no instance was launched and no NodeClaim went",
		Reads:    resources{karpenter.Nodes, karpenter.NodeClaims, karpenter.NodePools, karpenter.Pods, karpenter.Events},
		New: func(p Params) check.Monitor {
			return &lifecycleMonitor{
				nodeIndex: newNodeIndex(), pods: podsOnNodes{}, nodeOfOwner: map[string]string{}, strays: map[string]bool{},
				orphans: orphans{alone: map[string]orphan{}, timers: newTimers()}, nodeBound: max(nodeBound, p.InstanceGC),
			}
		},
	}
}

type lifecycleMonitor struct {
	nodeIndex
	orphans
	pods        podsOnNodes
	nodeOfOwner map[string]string // the name of the node that a NodeClaim owns, by the NodeClaim's UID
	strays      map[string]bool   // nodes without a NodeClaim at the start, by UID: not judged
	nodeBound   time.Duration
}

func (l *lifecycleMonitor) Observe(m *check.Moment) {
	if m.Event != nil && !m.Deleted() {
		l.judgeIDs(m) // before the index has it
	}
	l.nodeIndex.observe(m)
	l.absence.observe(m)
	for _, nodeClaim := range m.Seen(karpenter.NodeClaims) {
		l.awaitInstance(m, nodeClaim)
		if node := l.nodeOf(nodeClaim); node != nil {
			l.adopt("node/" + node.Name)
		}
	}
	for _, node := range m.Seen(karpenter.Nodes) {
		if m.Event == nil {
			l.strays[node.UID] = l.nodeClaimOf(node) == nil
		}
		l.judgeOwners(m, node)
		l.awaitNodeClaim(m, node)
		if nodeClaim := l.nodeClaimOf(node); nodeClaim != nil {
			l.awaitInstance(m, nodeClaim)
		}
	}
	switch {
	case m.End:
		l.judgeLeftNodes(m)
	case !m.Deleted():
	case m.Resource() == karpenter.NodeClaims:
		l.nodeClaimGone(m, m.Event.Object)
	case m.Resource() == karpenter.Nodes:
		l.nodeGone(m, m.Event.Object)
	case m.Resource() == karpenter.Pods:
		l.adopt(podKey(m.Event.Object))
	}
	l.pods.observe(m)
	l.judgeOverdue(m)
}

// judgeIDs judges that instances, NodeClaims and nodes match one to one, and stay so.
func (l *lifecycleMonitor) judgeIDs(m *check.Moment) {
	o := m.Event.Object
	switch m.Resource() {
	case karpenter.NodeClaims:
		id, had := karpenter.NodeClaimProviderID(o.Unstructured()), ""
		if m.Before != nil {
			had = karpenter.NodeClaimProviderID(m.Before.Unstructured())
		}
		if had != "" && had != id {
			m.Suspect("NodeClaim %s had the instance %s, and now has %q", o, had, id).Beside(m.Before)
		}
		if other := l.nodeClaims[id]; other != nil && other.Name != o.Name {
			m.Suspect("NodeClaims %s and %s have the same instance, %s", other, o, id)
		}
		if had == "" && id != "" {
			m.Tested()
		}
		judgeNodeName(m, o)
	case karpenter.Nodes:
		id := karpenter.NodeProviderID(o.Unstructured())
		if other := l.nodes[id]; other != nil && other.Name != o.Name {
			m.Suspect("nodes %s and %s are the same instance, %s", other, o, id)
		}
	}
}

// judgeNodeName judges that a NodeClaim keeps its node, and the node is its instance.
func judgeNodeName(m *check.Moment, nodeClaim *history.Object) {
	on, had := karpenter.NodeClaimNode(nodeClaim.Unstructured()), ""
	if m.Before != nil {
		had = karpenter.NodeClaimNode(m.Before.Unstructured())
	}
	if had == on {
		return
	}
	id, node := karpenter.NodeClaimProviderID(nodeClaim.Unstructured()), m.World.Get(karpenter.Nodes, "", on)
	switch {
	case had != "":
		m.Suspect("NodeClaim %s had the node %s, and now has %q", nodeClaim, had, on).Beside(m.Before)
	case node != nil && karpenter.NodeProviderID(node.Unstructured()) != id:
		m.Suspect("NodeClaim %s says that its node is %s, and its instance %s; that node is the instance %s",
			nodeClaim, on, id, karpenter.NodeProviderID(node.Unstructured())).Beside(node)
	}
}

// judgeOwners judges that a NodeClaim owns one node.
func (l *lifecycleMonitor) judgeOwners(m *check.Moment, node *history.Object) {
	for _, uid := range owningNodeClaims(node) {
		if other := l.nodeOfOwner[uid]; other != "" && other != node.Name {
			m.Suspect("nodes %s and %s have the same NodeClaim", other, node).Beside(m.World.Get(karpenter.Nodes, "", other))
		}
		l.nodeOfOwner[uid] = node.Name
	}
}

// owningNodeClaims returns the UIDs of a node's owner NodeClaims: one, once it is registered.
func owningNodeClaims(node *history.Object) []string {
	var uids []string
	for _, owner := range ownersOf(node.Unstructured()) {
		if uid, ok := owner["uid"].(string); ok && owner["kind"] == "NodeClaim" {
			uids = append(uids, uid)
		}
	}
	return uids
}

// awaitInstance notes what an existing NodeClaim waits for.
func (l *lifecycleMonitor) awaitInstance(m *check.Moment, nodeClaim *history.Object) {
	key := nodeClaimKey(nodeClaim)
	switch {
	case isDeleting(nodeClaim) || l.nodeOf(nodeClaim) != nil:
		l.adopt(key)
	case karpenter.NodeClaimProviderID(nodeClaim.Unstructured()) == "":
		l.note(m, key, launchBound, "NodeClaim %s has no instance and is not being deleted", nodeClaim)
	case !isTrue(nodeClaim, karpenter.Registered):
		l.note(m, key, joinBound, "NodeClaim %s has an instance, no node, and is not being deleted", nodeClaim)
	}
}

// awaitNodeClaim notes that a node of Karpenter's has no NodeClaim.
func (l *lifecycleMonitor) awaitNodeClaim(m *check.Moment, node *history.Object) {
	ofKarpenter := karpenter.NodePoolOf(node.Unstructured()) != "" || isUnregistered(node)
	if !ofKarpenter || l.strays[node.UID] || l.nodeClaimOf(node) != nil {
		l.adopt("node/" + node.Name)
		return
	}
	l.note(m, "node/"+node.Name, l.nodeBound, "node %s has no NodeClaim", node)
}

func (l *lifecycleMonitor) nodeClaimGone(m *check.Moment, nodeClaim *history.Object) {
	m.Tested()
	l.adopt(nodeClaimKey(nodeClaim))
	delete(l.nodeOfOwner, nodeClaim.UID)
	node := l.nodeOf(nodeClaim)
	if node == nil {
		return
	}
	if isTrue(nodeClaim, karpenter.Registered) && isLabeled(node, karpenter.RegisteredLabel) {
		m.Suspect("NodeClaim %s is gone before its node %s", nodeClaim, node)
	}
	l.awaitNodeClaim(m, node)
}

func (l *lifecycleMonitor) nodeGone(m *check.Moment, node *history.Object) {
	l.adopt("node/" + node.Name)
	for _, uid := range owningNodeClaims(node) {
		if l.nodeOfOwner[uid] == node.Name {
			delete(l.nodeOfOwner, uid)
		}
	}
	if nodeClaim := l.nodeClaimOf(node); nodeClaim != nil && isTrue(nodeClaim, karpenter.Registered) {
		l.adopt(nodeClaimKey(nodeClaim))
		l.note(m, nodeClaimKey(nodeClaim), nodeClaimBound, "NodeClaim %s is still there, and its node is gone", nodeClaim)
	}
	for _, pod := range l.pods.podsOf(node.Name) {
		l.note(m, podKey(pod.Object), podBound, "pod %s is still there, and its node is gone", pod.Object)
	}
}

func nodeClaimKey(nodeClaim *history.Object) string { return "nodeclaim/" + nodeClaim.Name }

func podKey(pod *history.Object) string { return "pod/" + pod.Namespace + "/" + pod.Name }
