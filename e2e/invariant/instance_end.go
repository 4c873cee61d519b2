package invariant

import (
	"slices"

	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/e2e/history"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
)

// instanceEndsFirst checks that Karpenter releases a node or a launched NodeClaim only when
// the instance is gone: the finalizer karpenter.sh/termination stays until the NodeClaim's
// condition InstanceTerminating is true.
//
// The condition means that the provider was asked to end the instance. No recording of the API
// server shows that it ended. A node that is not ready is not judged: its instance may have
// been gone before.
func instanceEndsFirst() Invariant {
	return Invariant{
		Name: "instances end before their nodes and NodeClaims do",
		Source: "finalizer karpenter.sh/termination, NodeClaim condition InstanceTerminating; Karpenter: " +
			"pkg/controllers/node/termination, awaitInstanceTermination; pkg/controllers/nodeclaim/lifecycle, finalize",
		Untested: "no finalizer was removed from a node or a launched NodeClaim",
		Reads:    resources{karpenter.NodeClaims, karpenter.Nodes},
		New:      func(Params) check.Monitor { return &instanceEndMonitor{newNodeIndex()} },
	}
}

type instanceEndMonitor struct{ nodeIndex }

func (i *instanceEndMonitor) Observe(m *check.Moment) {
	if m.Event != nil && losesFinalizer(m) {
		i.judge(m, m.Event.Object) // before the index forgets it
	}
	i.observe(m)
}

// judge judges the loss of the finalizer.
func (i *instanceEndMonitor) judge(m *check.Moment, o *history.Object) {
	kind, nodeClaim := "NodeClaim", o
	if m.Resource() == karpenter.Nodes {
		kind, nodeClaim = "node", i.nodeClaimOf(o)
	}
	switch {
	case nodeClaim == nil || karpenter.NodeClaimProviderID(nodeClaim.Unstructured()) == "":
	case isTrue(nodeClaim, karpenter.InstanceTerminating):
		m.Tested()
	case o == nodeClaim || karpenter.NodeReady(o.Unstructured()):
		m.Suspect("%s %s lost the finalizer %s before its instance was ended (the NodeClaim's condition %s is not true)",
			kind, o, karpenter.TerminationFinalizer, karpenter.InstanceTerminating).Beside(nodeClaim)
	}
}

// losesFinalizer reports whether Karpenter's finalizer is gone. A deleted object has none
// left.
func losesFinalizer(m *check.Moment) bool {
	return m.Before != nil && hasFinalizer(m.Before) && (m.Deleted() || !hasFinalizer(m.Event.Object))
}

func hasFinalizer(o *history.Object) bool {
	finalizers, _ := fieldAt(o.Unstructured(), "metadata", "finalizers").([]any)
	return slices.Contains(finalizers, any(karpenter.TerminationFinalizer))
}
