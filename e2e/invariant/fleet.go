package invariant

import (
	"k8s.io/apimachinery/pkg/watch"

	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/e2e/history"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
)

// fleet is what a follower knows of nodes and NodeClaims: which belongs to which,
// by the ID of their instance, as Karpenter matches them (Karpenter:
// pkg/utils/nodeclaim, NodeForNodeClaim).
type fleet struct {
	nodes, claims map[string]*history.Object // by provider ID
}

func newFleet() fleet {
	return fleet{nodes: map[string]*history.Object{}, claims: map[string]*history.Object{}}
}

// see takes over what a moment brought. To be called first at each moment.
func (f fleet) see(m *check.Moment) {
	if m.End {
		return
	}
	if m.Event == nil {
		for _, o := range m.World.List(karpenter.Nodes) {
			put(f.nodes, karpenter.NodeProviderID(o.Unstructured()), o)
		}
		for _, o := range m.World.List(karpenter.NodeClaims) {
			put(f.claims, karpenter.ClaimProviderID(o.Unstructured()), o)
		}
		return
	}
	switch m.Event.Resource {
	case karpenter.Nodes:
		keep(f.nodes, karpenter.NodeProviderID(m.Event.Object.Unstructured()), m.Event)
	case karpenter.NodeClaims:
		keep(f.claims, karpenter.ClaimProviderID(m.Event.Object.Unstructured()), m.Event)
	}
}

// claimOf is a node's NodeClaim, nil if there is none.
func (f fleet) claimOf(node *history.Object) *history.Object {
	return f.claims[karpenter.NodeProviderID(node.Unstructured())]
}

// nodeOf is a NodeClaim's node, nil if there is none.
func (f fleet) nodeOf(claim *history.Object) *history.Object {
	return f.nodes[karpenter.ClaimProviderID(claim.Unstructured())]
}

// pair is the node and the NodeClaim that an event of either is about; each may
// be nil. What was deleted is nil.
func (f fleet) pair(e *history.Event) (node, claim *history.Object) {
	if e.Resource == karpenter.Nodes {
		node, claim = e.Object, f.claimOf(e.Object)
		if e.Type == watch.Deleted {
			node = nil
		}
		return node, claim
	}
	node, claim = f.nodeOf(e.Object), e.Object
	if e.Type == watch.Deleted {
		claim = nil
	}
	return node, claim
}

func put(m map[string]*history.Object, id string, o *history.Object) {
	if id != "" {
		m[id] = o
	}
}

func keep(m map[string]*history.Object, id string, e *history.Event) {
	if e.Type != watch.Deleted {
		put(m, id, e.Object)
		return
	}
	if o := m[id]; o != nil && o.Name == e.Object.Name {
		delete(m, id)
	}
}

// disrupted says that Karpenter has taken a node out of use, or said why it
// would, and that nobody has asked for its deletion: a voluntary disruption has
// begun (Karpenter: pkg/controllers/disruption/queue.go, markDisrupted). node and
// claim may be nil.
func disrupted(node, claim *history.Object) bool {
	if deleting(node) || deleting(claim) {
		return false
	}
	return tainted(node) || claim != nil && karpenter.IsTrue(claim.Unstructured(), karpenter.DisruptionReason)
}

func tainted(node *history.Object) bool {
	return node != nil && karpenter.HasTaint(node.Unstructured(), karpenter.DisruptedTaint)
}

func deleting(o *history.Object) bool {
	return o != nil && karpenter.Deleting(o.Unstructured())
}

// labelled says whether an object has a label of Karpenter's with the value
// "true".
func labelled(o *history.Object, label string) bool {
	return o != nil && karpenter.Label(o.Unstructured(), label) == "true"
}
