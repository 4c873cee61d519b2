package cloud

import (
	"testing"

	. "github.com/onsi/gomega"

	"github.com/plumbline-e2e/plumbline/e2e/history/historytest"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
)

func TestRefusedLaunches(t *testing.T) {
	launched := func(name, status, reason string) *historytest.Thing {
		return historytest.NodeClaim(name).Pool("p").Set([]any{
			map[string]any{"type": karpenter.Launched, "status": status, "reason": reason},
		}, "status", "conditions")
	}
	refused := historytest.Report(karpenter.EventSource, karpenter.ReasonInsufficientCapacity, historytest.NodeClaim("a"))
	h := historytest.Begin().Add(historytest.Pool("p"), launched("before", "Unknown", "LaunchFailed")).Start().Add(
		refused, launched("b", "Unknown", "AllocationFailure"), launched("c", "Unknown", "LaunchFailed"),
		launched("waits", "Unknown", karpenter.ReasonAwaiting), launched("well", "True", karpenter.Launched),
		historytest.NodeClaim("new").Pool("p"),
	).History()
	var names []string
	for _, o := range refusedLaunches(h.StartMark()).Of(h.End()) {
		names = append(names, o.Name)
	}
	NewWithT(t).Expect(names).To(ConsistOf(refused.GetName(), "b", "c"))
}
