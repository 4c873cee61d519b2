package invariant

import (
	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
)

// The harness asks the scheduler about pods that wait at a spec's end, and records each answer
// by an Event about the pod (package placement).
const (
	// ReasonFits means that the pod would run on a new node. The message names the node's
	// NodePool and type.
	ReasonFits = "FitsOnNewNode"
	// ReasonFitsNowhere means that it would run on no new node.
	ReasonFitsNowhere = "FitsOnNoNewNode"
)

// nothingMissed checks that a pod for which Karpenter launches nothing fits on none of the nodes
// that it could launch. The real scheduler judges Karpenter's simulation of it. If it would
// place the pod on a node of a ready NodePool, within the pool's limits, the pod waits for
// nothing.
//
// Known to the harness are instance types that nodes of the same run have had. A pod that fits
// on others only isn't found.
func nothingMissed() Invariant {
	return Invariant{
		Name: "pods that wait fit on no node that could be launched",
		Source: "https://karpenter.sh/docs/concepts/scheduling; Karpenter: pkg/controllers/provisioning/scheduling, " +
			"which simulates the scheduler",
		Untested: "no pod waited at the spec's end about which the scheduler could be asked",
		OnlyHere: "only the harness asks a scheduler of its own where pods that wait would run",
		Reads:    resources{karpenter.Events, karpenter.Pods},
		New:      func(Params) check.Monitor { return missedMonitor{} },
	}
}

type missedMonitor struct{}

func (missedMonitor) Observe(m *check.Moment) {
	if m.Resource() != karpenter.Events {
		return
	}
	reason, about := eventOf(m, Harness, "Pod", ReasonFits, ReasonFitsNowhere)
	if reason == "" {
		return
	}
	m.Tested()
	pod := m.World.Get(karpenter.Pods, about.Namespace, about.Name)
	if reason == ReasonFits && pod != nil {
		m.Broken("pod %s waits, and nothing is launched for it: %s", pod,
			karpenter.EventMessage(m.Event.Object.Unstructured())).Beside(pod)
	}
}
