package invariant

import (
	"testing"
	"time"

	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/e2e/history/historytest"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
)

func TestConsolidatesByPolicy(t *testing.T) {
	pool := func(policy, after string) *historytest.Thing {
		return historytest.Pool("p").Set(policy, "spec", "disruption", "consolidationPolicy").
			Set(after, "spec", "disruption", "consolidateAfter")
	}
	claim := func() *historytest.Thing {
		return historytest.NodeClaim("c").Pool("p").On("n").True(karpenter.Initialized)
	}
	because := func(reason string) *historytest.Thing { return claim().Because(karpenter.DisruptionReason, reason) }
	waits := func() *historytest.Thing { return historytest.Pod("a", "w") }
	runs := func() *historytest.Thing { return waits().On("n").Phase("Running") }
	begin := func(policy, after string) *historytest.Story {
		return historytest.Begin().Add(pool(policy, after), claim(), waits()).After(time.Minute)
	}
	static := func() *historytest.Story {
		return historytest.Begin().Add(historytest.Pool("p").Set(int64(1), "spec", "replicas"), claim())
	}
	later := stale + validation + time.Second
	any, always := "WhenEmptyOrUnderutilized", "0s"
	judgeEach(t, consolidatesByPolicy(), map[string]outcome{
		"empty":         {begin("WhenEmpty", always).Change(because(empty)), check.Holds, ""},
		"underutilized": {begin(any, always).Change(because(underutilized)), check.Holds, ""},
		"underutilized, WhenEmpty": {
			begin("WhenEmpty", always).Change(because(underutilized)), check.Broken, "the policy WhenEmpty",
		},
		"drifted": {
			begin("WhenEmpty", "Never").Change(because(drifted)), check.Vacuous, "was consolidated",
		},
		"Never": {
			begin(any, "Never").Change(because(empty)), check.Broken, "has consolidateAfter Never",
		},
		"Never from now on": {
			begin(any, always).Change(pool(any, "Never")).Change(because(empty)), check.Holds, "",
		},
		"Never for some time": {
			begin(any, always).Change(pool(any, "Never")).After(later).Change(because(empty)), check.Broken, "Never",
		},
		"static, and empty": {
			static().Change(because(empty)), check.Broken, "(Empty), but its NodePool p is static",
		},
		"static, and underutilized": {
			static().Change(because(underutilized)), check.Broken, "(Underutilized), but its NodePool p is static",
		},
		"static, and drifted": {static().Change(because(drifted)), check.Vacuous, ""},
		"soon after a pod": {
			begin(any, "2m").Change(runs()).After(time.Minute).Change(because(underutilized)), check.Broken,
			"has consolidateAfter 2m, and a pod was bound to it 1m0s ago",
		},
		"when the time is over": {
			begin(any, "2m").Change(runs()).After(2 * time.Minute).Change(because(underutilized)),
			check.Holds, "",
		},
		"two pods within moments": {
			begin(any, "2m").Change(runs()).After(112 * time.Second).Change(because(underutilized)),
			check.Holds, "",
		},
		"as a pod comes": {
			begin(any, "2m").Change(runs()).After(time.Second).Change(because(empty)), check.Holds, "",
		},
		"less from now on": {
			begin(any, "2m").Change(runs()).After(time.Minute).Change(pool(any, always)).Change(because(underutilized)),
			check.Holds, "",
		},
		"a pod that was there": {
			historytest.Begin().Add(pool(any, "2m"), claim(), runs()).After(time.Minute).Change(because(underutilized)),
			check.Holds, "",
		},
		"a pod elsewhere": {
			begin(any, "2m").Change(waits().On("m")).After(time.Minute).Change(because(empty)), check.Holds, "",
		},
		"no pool": {historytest.Begin().Add(claim()).Change(because(empty)), check.Vacuous, ""},
		"a gap": {
			begin(any, "Never").Gap(karpenter.NodePools, "410").Change(because(empty)), check.Unknown, "gap",
		},
	})
}
