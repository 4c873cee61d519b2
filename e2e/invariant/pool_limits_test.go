package invariant

import (
	"testing"
	"time"

	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/e2e/history/historytest"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
)

func TestPoolLimitsHold(t *testing.T) {
	limited := func(name, limit string) *historytest.Thing {
		return historytest.Pool("p").Set(limit, "spec", "limits", name)
	}
	made := func(i int) *historytest.Thing { return itsClaim(i).Set("", "status", "providerID") }
	launched := func(i int) *historytest.Thing { return itsClaim(i).Capacity("cpu", "2").Capacity("memory", "4Gi") }
	// of returns a story of a pool with two NodeClaims: four CPUs.
	of := func(pool *historytest.Thing) *historytest.Story {
		return historytest.Begin().Add(pool, launched(0), launched(1)).Start().After(time.Minute)
	}
	launch := func(s *historytest.Story, more ...int) *historytest.Story {
		for _, i := range more {
			s.Add(made(i))
		}
		for _, i := range more {
			s.Change(launched(i))
		}
		return s
	}

	judgeEach(t, poolLimitsHold(), map[string]outcome{
		"up to the limit": {launch(of(limited("cpu", "6")), 2), check.Holds, ""},
		"beyond it": {
			launch(of(limited("cpu", "5500m")), 2), check.Broken,
			"takes pool p to 6 cpu, where its limit is 5500m",
		},
		"beyond it, in one batch": {
			launch(of(limited("memory", "12Gi")), 2, 3), check.Broken,
			"to 16Gi memory, where its limit is 12Gi",
		},
		"nodes": {
			launch(of(limited("nodes", "3")), 2, 3), check.Broken,
			"to 4 nodes, where its limit is 3",
		},
		"a replacement of one": {
			launch(of(limited("nodes", "2")).Add(member(0).Taint(karpenter.DisruptedTaint)), 2),
			check.Holds, "",
		},
		"one is being deleted":  {launch(of(limited("nodes", "2")).Change(launched(0).Deleting()), 2), check.Holds, ""},
		"one is gone":           {launch(of(limited("nodes", "2")).Delete(launched(0)), 2), check.Holds, ""},
		"one is not launched":   {of(limited("nodes", "2")).Add(made(2)), check.Vacuous, ""},
		"a node tells its size": {launch(of(limited("cpu", "5")).Add(member(0).Capacity("cpu", "1")), 2), check.Holds, ""},
		"a node is initialized": {
			launch(of(limited("cpu", "5")).Add(member(0).Capacity("cpu", "3")), 2), check.Broken,
			"to 7 cpu",
		},
		"the limit has just come": {launch(of(historytest.Pool("p")).Change(limited("nodes", "1")), 2), check.Vacuous, ""},
		"the limit came long ago": {
			launch(of(historytest.Pool("p")).Change(limited("nodes", "1")).After(time.Minute), 2),
			check.Broken, "",
		},
		"the pool is new": {launch(historytest.Begin().Add(limited("nodes", "0")), 2), check.Broken, "to 1 nodes"},
		"no limits": {
			launch(of(historytest.Pool("p")), 2), check.Vacuous,
			"nothing was launched for a NodePool that has limits",
		},
		"of another pool": {
			of(limited("nodes", "2")).Add(made(2).Pool("q")).Change(launched(2).Pool("q")),
			check.Vacuous, "",
		},
		"what was there is no sin": {of(limited("nodes", "1")).Change(launched(0).Ready()), check.Vacuous, ""},
		"a gap": {
			launch(of(limited("cpu", "5")).Gap(karpenter.NodeClaims, "410"), 2),
			check.Unknown, "gap",
		},
	})
}
