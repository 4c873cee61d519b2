package invariant

import (
	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/e2e/history"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
)

// nodeIndex maps nodes to NodeClaims and back by provider ID, as Karpenter does (Karpenter:
// pkg/utils/nodeclaim, NodeForNodeClaim).
type nodeIndex struct {
	nodes, nodeClaims map[string]*history.Object // by provider ID
}

func newNodeIndex() nodeIndex {
	return nodeIndex{map[string]*history.Object{}, map[string]*history.Object{}}
}

func (x nodeIndex) observe(m *check.Moment) {
	for _, node := range m.Seen(karpenter.Nodes) {
		putByID(x.nodes, karpenter.NodeProviderID(node.Unstructured()), node)
	}
	for _, nodeClaim := range m.Seen(karpenter.NodeClaims) {
		putByID(x.nodeClaims, karpenter.NodeClaimProviderID(nodeClaim.Unstructured()), nodeClaim)
	}
	switch {
	case !m.Deleted():
	case m.Resource() == karpenter.Nodes:
		removeByID(x.nodes, karpenter.NodeProviderID(m.Event.Object.Unstructured()), m.Event.Object)
	case m.Resource() == karpenter.NodeClaims:
		removeByID(x.nodeClaims, karpenter.NodeClaimProviderID(m.Event.Object.Unstructured()), m.Event.Object)
	}
}

// nodeClaimOf returns a node's NodeClaim, nil if there is none.
func (x nodeIndex) nodeClaimOf(node *history.Object) *history.Object {
	return x.nodeClaims[karpenter.NodeProviderID(node.Unstructured())]
}

// nodeOf returns a NodeClaim's node, nil if there is none.
func (x nodeIndex) nodeOf(nodeClaim *history.Object) *history.Object {
	return x.nodes[karpenter.NodeClaimProviderID(nodeClaim.Unstructured())]
}

// pair returns the node and the NodeClaim of a moment. Each may be nil; the deleted one is.
func (x nodeIndex) pair(m *check.Moment) (node, nodeClaim *history.Object) {
	is := m.Event.Object
	if m.Deleted() {
		is = nil
	}
	if m.Resource() == karpenter.Nodes {
		return is, x.nodeClaimOf(m.Event.Object)
	}
	return x.nodeOf(m.Event.Object), is
}

func putByID(m map[string]*history.Object, id string, o *history.Object) {
	if id != "" {
		m[id] = o
	}
}

func removeByID(m map[string]*history.Object, id string, o *history.Object) {
	if is := m[id]; is != nil && is.Name == o.Name {
		delete(m, id)
	}
}

// lastNodeClaims holds the last NodeClaim of each node, by the node's name.
type lastNodeClaims map[string]*history.Object

func (l lastNodeClaims) observe(m *check.Moment) {
	for _, nodeClaim := range m.Seen(karpenter.NodeClaims) {
		putByID(l, karpenter.NodeClaimNode(nodeClaim.Unstructured()), nodeClaim)
	}
}

// underDisruption reports whether a voluntary disruption has begun: the node is tainted or its
// NodeClaim has a reason, and neither is being deleted yet (Karpenter:
// pkg/controllers/disruption/queue.go, markDisrupted). Node and NodeClaim may be nil.
func underDisruption(node, nodeClaim *history.Object) bool {
	if isDeleting(node) || isDeleting(nodeClaim) {
		return false
	}
	return hasDisruptedTaint(node) || nodeClaim != nil && isTrue(nodeClaim, karpenter.DisruptionReason)
}

func hasDisruptedTaint(node *history.Object) bool {
	return node != nil && karpenter.HasTaint(node.Unstructured(), karpenter.DisruptedTaint)
}
