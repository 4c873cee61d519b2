package invariant

import (
	"testing"
	"time"

	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/e2e/history/historytest"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
)

func TestReasonsAreTrue(t *testing.T) {
	nodeClaim := func() *historytest.Thing { return historytest.NodeClaim("c").Pool("p").On("n") }
	pod := func() *historytest.Thing { return historytest.Pod("a", "w").On("n").Phase("Running") }
	because := func(reason string) *historytest.Thing { return nodeClaim().Because(karpenter.DisruptionReason, reason) }
	daemon := func() *historytest.Thing {
		return pod().Set([]any{map[string]any{"kind": "DaemonSet", "name": "w"}}, "metadata", "ownerReferences")
	}
	// tell returns a story of a NodeClaim and what is beside it, ten seconds on.
	tell := func(beside ...*historytest.Thing) *historytest.Story {
		return historytest.Begin().Add(append(beside, nodeClaim())...).After(10 * time.Second)
	}
	judgeEach(t, reasonsAreTrue(), map[string]outcome{
		"empty":                     {tell().Change(because("Empty")), check.Holds, ""},
		"empty, with a pod":         {tell(pod()).Change(because("Empty")), check.Broken, "although pod"},
		"empty, with a pod at last": {tell().Add(pod()).After(time.Second).Change(because("Empty")), check.Holds, ""},
		"empty, with an ended pod":  {tell(pod().Phase("Succeeded")).Change(because("Empty")), check.Holds, ""},
		"empty, with an ending pod": {tell(pod().Deleting()).Change(because("Empty")), check.Holds, ""},
		"empty, with a daemon's pod": {
			tell(daemon()).Change(because("Empty")), check.Holds, "",
		},
		"empty, with a pod elsewhere": {tell(historytest.Pod("a", "w").On("m")).Change(because("Empty")), check.Holds, ""},
		"drifted": {
			tell().Change(nodeClaim().True(karpenter.Drifted)).Change(because("Drifted").True(karpenter.Drifted)),
			check.Holds, "",
		},
		"drifted, they say": {tell().Change(because("Drifted")), check.Broken, "has not drifted"},
		"drifted long ago": {
			tell().Change(nodeClaim().True(karpenter.Drifted)).Change(nodeClaim()).After(time.Minute).Change(because("Drifted")),
			check.Broken, "has not drifted",
		},
		"underutilized": {tell(pod()).Change(because("Underutilized")), check.Vacuous, "no node was disrupted as"},
		"a gap": {
			tell(pod()).Gap(karpenter.Pods, "410").Change(because("Empty").True(karpenter.Drifted)), check.Unknown, "gap",
		},
	})
}
