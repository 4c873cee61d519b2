package invariant

import (
	"fmt"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/e2e/history"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
)

// instanceFirst says that Karpenter lets go of a node, and of a NodeClaim that was
// launched, only once the instance is gone: the finalizer karpenter.sh/termination
// stays until the NodeClaim's condition InstanceTerminating is true.
//
// The condition says that the provider was asked to end the instance; that it has
// ended shows in no recording of the API server. A node that is not ready is not
// judged: its instance may have been found gone before anybody asked.
//
// Sources: Karpenter, pkg/controllers/node/termination/controller.go
// (awaitInstanceTermination), pkg/controllers/nodeclaim/lifecycle/controller.go
// (finalize).
func instanceFirst() Invariant {
	const name = "instances end before their nodes and NodeClaims do"
	return Invariant{
		Name:   name,
		Source: "finalizer karpenter.sh/termination; NodeClaim condition InstanceTerminating",
		Check: func(Params) check.Check {
			return check.Follow(name, "no finalizer was removed from a node or a launched NodeClaim",
				func() func(*check.Moment) {
					f := newFleet()
					return func(m *check.Moment) {
						claim := f.ofMoment(m) // before the fleet forgets it
						f.see(m)
						if m.Event != nil {
							judgeEnd(m, claim)
						}
					}
				}, karpenter.NodeClaims, karpenter.Nodes)
		},
	}
}

// ofMoment is the NodeClaim that an event is about, as far as it has an instance.
func (f fleet) ofMoment(m *check.Moment) *history.Object {
	switch {
	case m.Event == nil:
		return nil
	case m.Event.Resource == karpenter.Nodes:
		return f.claimOf(m.Event.Object)
	case karpenter.ClaimProviderID(m.Event.Object.Unstructured()) == "":
		return nil
	default:
		return m.Event.Object
	}
}

// judgeEnd judges the moment at which a node or a NodeClaim is let go.
func judgeEnd(m *check.Moment, claim *history.Object) {
	o := m.Event.Object
	switch {
	case claim == nil || !letGo(m):
	case ending(claim.Unstructured()):
		m.Tested()
	case o == claim:
		m.Suspect(tooSoon("NodeClaim", o.Name), claim)
	case karpenter.NodeReady(o.Unstructured()):
		m.Suspect(tooSoon("node", o.Name), o, claim)
	}
}

func tooSoon(kind, name string) string {
	return fmt.Sprintf("%s %s lost the finalizer %s before its instance was ended (the NodeClaim's condition %s is not true)",
		kind, name, karpenter.TerminationFinalizer, karpenter.InstanceTerminating)
}

func ending(claim *unstructured.Unstructured) bool {
	return karpenter.IsTrue(claim, karpenter.InstanceTerminating)
}

// letGo says whether the object has Karpenter's finalizer no longer. The last one
// to be removed from an object that is being deleted ends it at once.
func letGo(m *check.Moment) bool {
	return m.Before != nil && hasFinalizer(m.Before.Unstructured(), karpenter.TerminationFinalizer) &&
		(gone(m) || !hasFinalizer(m.Event.Object.Unstructured(), karpenter.TerminationFinalizer))
}
