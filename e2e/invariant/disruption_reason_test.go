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
		"underutilized": {tell(pod()).Change(because("Underutilized")), check.Vacuous, "no node was disrupted"},
		"a gap": {
			tell(pod()).Gap(karpenter.Pods, "410").Change(because("Empty").True(karpenter.Drifted)), check.Unknown, "gap",
		},
	})
}

func TestReasonsAreSaid(t *testing.T) {
	nodeClaim := func() *historytest.Thing { return historytest.NodeClaim("c").Set("id", "status", "providerID") }
	node := func() *historytest.Thing { return historytest.Node("n").Set("id", "spec", "providerID") }
	pool := func() *historytest.Thing { return historytest.Pool("p") }
	said := func() *historytest.Thing { return nodeClaim().Because(karpenter.DisruptionReason, "Underutilized") }
	expiring := func(after string) *historytest.Thing {
		return nodeClaim().Set("2026-01-02T15:04:05Z", "metadata", "creationTimestamp").Set(after, "spec", "expireAfter")
	}
	rebooted := func(o *historytest.Thing) *historytest.Thing {
		return o.Because(karpenter.Rebooting, "RebootRequested")
	}
	tainted := node().Taint(karpenter.DisruptedTaint)
	deleted := node().Taint(karpenter.DisruptedTaint).Deleting()
	begin := func() *historytest.Story { return historytest.Begin().Add(nodeClaim(), node()).After(time.Second) }
	judgeEach(t, reasonsAreTrue(), map[string]outcome{
		"said":         {begin().Change(tainted).Change(said()).Change(said().Deleting()), check.Holds, ""},
		"not said":     {begin().Change(tainted).Change(nodeClaim().Deleting()), check.Broken, "that says why"},
		"overwritten":  {begin().Change(tainted).Change(said()).Change(nodeClaim().Deleting()), check.Holds, ""},
		"by others":    {begin().Change(nodeClaim().Deleting()).Change(tainted), check.Vacuous, "no node was disrupted"},
		"node deleted": {begin().Change(deleted).Change(nodeClaim().Deleting()), check.Vacuous, "no node was"},
		"given up":     {begin().Change(tainted).Change(said()).Change(nodeClaim()).Change(node()), check.Vacuous, ""},
		"with its pool": {
			begin().Add(pool()).Change(tainted).Change(pool().Deleting()).Change(nodeClaim().Pool("p").Deleting()),
			check.Vacuous, "no node was",
		},
		"with a pool": {
			begin().Add(pool()).Change(tainted).Change(nodeClaim().Pool("p").Deleting()), check.Broken, "that says why",
		},
		"expired": {
			begin().Change(tainted).Change(expiring("1s").Deleting()), check.Vacuous, "no node was",
		},
		"not expired yet": {
			begin().Change(tainted).Change(expiring("1m").Deleting()), check.Broken, "that says why",
		},
		"rebooted":    {begin().Change(rebooted(said())), check.Holds, ""},
		"only reboot": {begin().Change(rebooted(nodeClaim())), check.Broken, "is rebooted"},
		"a gap": {
			begin().Gap(karpenter.NodeClaims, "410").Change(tainted).Change(nodeClaim().Deleting()), check.Unknown, "gap",
		},
	})
	silent := begin().Change(tainted).Change(nodeClaim().Deleting()).History()
	for _, core := range []string{"", "v1.4.0"} {
		if f := reasonsAreTrue().Check(Params{Core: core}).Judge(silent); f.Verdict != check.Vacuous {
			t.Errorf("core %q may have no reasons; got %s", core, f)
		}
	}
}
