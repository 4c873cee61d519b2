package invariant

import (
	"fmt"

	"k8s.io/apimachinery/pkg/watch"

	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/e2e/history"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
)

// stages are the conditions that a NodeClaim goes through, in this order.
var stages = []string{karpenter.Launched, karpenter.Registered, karpenter.Initialized}

// rebooting is the condition of a NodeClaim whose instance is being restarted in
// place; until it is back, it is not initialized again (Karpenter:
// pkg/apis/v1/nodeclaim_status.go, since v1.15, alpha).
const rebooting = "Rebooting"

// stagesInOrder is that a NodeClaim is launched, then registered, then
// initialized, and never falls back: other controllers take each for granted once
// it was true (pods are nominated to a node, budgets count it, its launch is no
// longer timed out).
//
// Source: status.conditions of NodeClaim (Karpenter: pkg/apis/v1/nodeclaim_status.go;
// pkg/controllers/nodeclaim/lifecycle). Only a
// restart in place takes Initialized back; for what staleWrites forgives, see there.
//
// Several may become true in one event, since Karpenter patches them together. What a
// stage has found out is there with it: the instance (status.providerID) with Launched,
// the node (status.nodeName) with Registered.
func stagesInOrder() Invariant {
	return Invariant{
		Name:   "NodeClaims are launched, registered and initialized in that order, and for good",
		Source: "NodeClaim status.conditions; Karpenter: pkg/controllers/nodeclaim/lifecycle",
		Check: func(Params) check.Check {
			return check.Follow("NodeClaims are launched, registered and initialized in that order, and for good",
				"no NodeClaim got any further",
				func() func(*check.Moment) {
					writes := &staleWrites{}
					return func(m *check.Moment) {
						writes.see(m)
						followStages(m, writes)
					}
				}, karpenter.NodeClaims)
		},
	}
}

func followStages(m *check.Moment, writes *staleWrites) {
	if m.Event == nil || m.Event.Type == watch.Deleted {
		return
	}
	claim := m.Event.Object
	for i, stage := range stages {
		is, was := reached(claim, stage), m.Before != nil && m.Before.UID == claim.UID && reached(m.Before, stage)
		switch {
		case is && i > 0 && !reached(claim, stages[i-1]):
			m.Broken(fmt.Sprintf("NodeClaim %s is %s, but not %s", claim.Name, stage, stages[i-1]), claim)
		case was && !is && writes.stale(stage):
		case was && !is && !(stage == karpenter.Initialized && reached(claim, rebooting)):
			m.Suspect(fmt.Sprintf("NodeClaim %s was %s, and no longer is", claim.Name, stage), m.Before, claim)
		case is && !was:
			m.Tested()
			if lacks := foundOut(claim, stage); lacks != "" {
				m.Broken(fmt.Sprintf("NodeClaim %s is %s, and its %s is empty", claim.Name, stage, lacks), claim)
			}
		}
	}
}

// foundOut is the field that a stage should have set and didn't.
func foundOut(claim *history.Object, stage string) string {
	switch {
	case stage == karpenter.Launched && karpenter.ClaimProviderID(claim.Unstructured()) == "":
		return "status.providerID"
	case stage == karpenter.Registered && karpenter.ClaimNode(claim.Unstructured()) == "":
		return "status.nodeName"
	default:
		return ""
	}
}

func reached(claim *history.Object, condition string) bool {
	return karpenter.IsTrue(claim.Unstructured(), condition)
}
