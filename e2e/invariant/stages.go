package invariant

import (
	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/e2e/history"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
)

// stages are the conditions that a NodeClaim goes through, in order.
var stages = []string{karpenter.Launched, karpenter.Registered, karpenter.Initialized}

// stagesInOrder checks that a NodeClaim is launched, then registered, then initialized, and
// never falls back. Other controllers rely on a reached stage: they nominate pods to a node,
// count it for budgets, or stop the timeout of its launch. A stage sets its fields: Launched
// sets status.providerID, and status.imageID where machines are started from images; Registered
// sets status.nodeName.
//
// One event may reach several stages, because Karpenter patches them together. Initialized may
// become false while the instance reboots in place, and any stage by a stale write (see staleWrites).
func stagesInOrder() Invariant {
	return Invariant{
		Name:     "NodeClaims are launched, registered and initialized in that order, and stay so",
		Source:   "NodeClaim status.conditions; Karpenter: pkg/controllers/nodeclaim/lifecycle",
		Untested: "no NodeClaim got any further",
		Reads:    resources{karpenter.NodeClaims},
		New:      func(p Params) check.Monitor { return &stageMonitor{images: p.Images} },
	}
}

type stageMonitor struct {
	staleWrites
	images bool // NodeClaims say their image
}

func (s *stageMonitor) Observe(m *check.Moment) {
	s.observe(m)
	if m.Event == nil || m.Deleted() {
		return
	}
	nodeClaim := m.Event.Object
	for i, stage := range stages {
		is, was := isTrue(nodeClaim, stage), m.Before != nil && isTrue(m.Before, stage)
		switch {
		case is && i > 0 && !isTrue(nodeClaim, stages[i-1]):
			m.Broken("NodeClaim %s is %s, but not %s", nodeClaim, stage, stages[i-1])
		case was && !is && s.stale(m, stage):
		case was && !is && !(stage == karpenter.Initialized && isTrue(nodeClaim, karpenter.Rebooting)):
			m.Suspect("NodeClaim %s was %s, and no longer is", nodeClaim, stage).Beside(m.Before)
		case is && !was:
			m.Tested()
			if field := s.emptyField(nodeClaim, stage); field != "" {
				m.Broken("NodeClaim %s is %s, and its %s is empty", nodeClaim, stage, field)
			}
		}
	}
}

// emptyField returns the field that a stage should have set but did not.
func (s *stageMonitor) emptyField(nodeClaim *history.Object, stage string) string {
	switch {
	case stage == karpenter.Launched && karpenter.NodeClaimProviderID(nodeClaim.Unstructured()) == "":
		return "status.providerID"
	case stage == karpenter.Launched && s.images && karpenter.NodeClaimImage(nodeClaim.Unstructured()) == "":
		return "status.imageID"
	case stage == karpenter.Registered && karpenter.NodeClaimNode(nodeClaim.Unstructured()) == "":
		return "status.nodeName"
	default:
		return ""
	}
}
