package invariant

import (
	"testing"
	"time"

	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/e2e/history/historytest"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
)

func staticPoolOf(replicas int64) *historytest.Thing {
	return historytest.Pool("p").Ready().Set(replicas, "spec", "replicas")
}

func restingClaim(i int) *historytest.Thing {
	return itsClaim(i).True(karpenter.Launched).True(karpenter.Initialized)
}

// restingPool returns a story of a pool with two nodes.
func restingPool(pool *historytest.Thing) *historytest.Story {
	return historytest.Begin().Add(pool, restingClaim(0), member(0), restingClaim(1), member(1)).Start()
}

func TestStaticPoolsCount(t *testing.T) {
	three, controller := staticPoolOf(3), historytest.Pod("karpenter", "host")
	later := countedWithin + time.Second
	// after returns a story that goes on for so long without a change.
	after := func(s *historytest.Story, d time.Duration) *historytest.Story { return s.After(d).Change(three) }
	event := func(reason string) *historytest.Thing { return historytest.Report(Harness, reason, controller) }
	judgeEach(t, staticPoolsHold(), map[string]outcome{
		"as many": {restingPool(staticPoolOf(2)).After(later).Change(staticPoolOf(2)), check.Holds, ""},
		"fewer": {
			after(restingPool(three), later), check.Broken,
			"static NodePool p has 2 NodeClaims, and should have 3, although nothing has changed for 1m30s",
		},
		"fewer, for a moment": {after(restingPool(three), countedWithin), check.Vacuous, "no static NodePool was at rest"},
		"more": {
			restingPool(staticPoolOf(1)).After(later).Change(staticPoolOf(1)), check.Broken,
			"static NodePool p has 2 NodeClaims for 1 replicas",
		},
		"none": {
			historytest.Begin().Add(staticPoolOf(1)).After(later).Change(staticPoolOf(1)), check.Broken,
			"has 0 NodeClaims, and should have 1",
		},
		"none wanted": {historytest.Begin().Add(staticPoolOf(0)).After(later).Change(staticPoolOf(0)), check.Holds, ""},
		"none, and not ready": {
			historytest.Begin().Add(staticPoolOf(1).False(karpenter.Ready)).After(later).Change(staticPoolOf(1)),
			check.Vacuous, "",
		},
		"none, and ready at last": {
			historytest.Begin().Add(staticPoolOf(1).False(karpenter.Ready)).After(later).Change(staticPoolOf(1)).
				After(later).Change(staticPoolOf(1)), check.Broken, "has 0 NodeClaims",
		},
		"up to its limit": {
			restingPool(staticPoolOf(3).Set("2", "spec", "limits", "nodes")).After(later).Change(staticPoolOf(3)),
			check.Holds, "",
		},
		"has just changed": {
			after(restingPool(staticPoolOf(2)).After(countedWithin).Change(three), countedWithin), check.Vacuous, "",
		},
		"a NodeClaim has just gone": {
			after(after(restingPool(staticPoolOf(2)).Add(restingClaim(2)), countedWithin).Delete(restingClaim(2)),
				countedWithin), check.Vacuous, "",
		},
		"one is drifted": {
			after(restingPool(three).Change(restingClaim(0).True(karpenter.Drifted)), later), check.Vacuous, "",
		},
		"one is disrupted": {
			after(restingPool(three).Change(member(0).Taint(karpenter.DisruptedTaint)), later), check.Vacuous, "",
		},
		"one is being deleted": {after(restingPool(three).Change(restingClaim(0).Deleting()), later), check.Vacuous, ""},
		"its node is":          {after(restingPool(three).Change(member(0).Deleting()), later), check.Vacuous, ""},
		"one is not ready": {
			after(restingPool(three).Change(restingClaim(0).False(karpenter.Initialized)), later), check.Vacuous, "",
		},
		"another waits for its launch": {
			after(restingPool(three).Add(historytest.NodeClaim("o").Pool("o")), later), check.Vacuous, "",
		},
		"launches fail": {
			after(restingPool(three).Add(historytest.NodeClaim("f").Pool("p")).Delete(historytest.NodeClaim("f").Pool("p")),
				later), check.Vacuous, "",
		},
		"launches work again": {
			after(restingPool(three).Add(historytest.NodeClaim("f").Pool("p")).Delete(historytest.NodeClaim("f").Pool("p")).
				Change(restingClaim(1).False(karpenter.Launched)).Change(restingClaim(1)), later), check.Broken, "",
		},
		"after a hook":       {after(restingPool(three).Add(event(ReasonHook)), later), check.Vacuous, ""},
		"long after a hook":  {after(restingPool(three).Add(event(ReasonHook)), recovery+later), check.Broken, ""},
		"long after a fault": {after(restingPool(three).Add(event(ReasonFault)), recovery+later), check.Vacuous, ""},
		"after a kill":       {after(restingPool(three).Add(event(ReasonKilled)), later), check.Vacuous, ""},
		"long after a kill": {
			after(restingPool(three).Add(event(ReasonKilled)), takesOver+later), check.Broken, "",
		},
		"the pool is being deleted": {
			restingPool(staticPoolOf(2)).Change(staticPoolOf(3).Deleting()).After(later).Change(member(0)),
			check.Vacuous, "",
		},
		"the pool is gone": {
			restingPool(three).Delete(three).After(later).Change(member(0)), check.Vacuous, "",
		},
		"it isn't static": {
			restingPool(historytest.Pool("p").Ready()).After(later).Change(member(0)), check.Vacuous, "",
		},
		"a gap": {
			after(restingPool(three).Gap(karpenter.NodeClaims, "410"), later), check.Unknown, "gap",
		},
	})
}

func TestStaticPoolsKeepNodes(t *testing.T) {
	one, going := staticPoolOf(1), restingClaim(0).Deleting()
	expired := restingClaim(1).Set("1m", "spec", "expireAfter").
		Set("2026-01-01T00:00:00Z", "metadata", "creationTimestamp")
	// lowered returns a story of a pool that loses one of two nodes.
	lowered := func() *historytest.Story { return restingPool(staticPoolOf(2)).Change(one).Change(going) }
	hook := historytest.Report(Harness, ReasonHook, historytest.Pod("karpenter", "host"))
	judgeEach(t, staticPoolsHold(), map[string]outcome{
		"loses as many": {lowered(), check.Holds, ""},
		"loses one more": {
			lowered().Change(restingClaim(1).Deleting()), check.Broken,
			"NodeClaim c1 goes when the replicas of NodePool p are lowered, and leaves 0 for 1 replicas",
		},
		"loses one more at once": {lowered().Delete(restingClaim(1)), check.Broken, "leaves 0 for 1 replicas"},
		"loses one more later":   {lowered().After(2 * time.Second).Change(restingClaim(1).Deleting()), check.Holds, ""},
		"a user deletes a node": {
			lowered().Change(member(1).Deleting()).Change(restingClaim(1).Deleting()), check.Holds, "",
		},
		"one has drifted": {
			lowered().Change(restingClaim(1).True(karpenter.Drifted)).
				Change(restingClaim(1).True(karpenter.Drifted).Deleting()), check.Holds, "",
		},
		"one has expired": {lowered().Change(expired).Change(expired.Deleting()), check.Holds, ""},
		"a node is tainted": {
			lowered().Change(member(1).Taint(karpenter.DisruptedTaint)).Change(restingClaim(1).Deleting()), check.Holds, "",
		},
		"after a hook": {
			restingPool(staticPoolOf(2)).Add(hook).Change(one).Change(going).Change(restingClaim(1).Deleting()),
			check.Vacuous, "",
		},
		"not at rest": {
			restingPool(staticPoolOf(2)).Change(going).Change(one).Change(restingClaim(1).Deleting()), check.Vacuous, "",
		},
		"raised": {restingPool(one).Change(staticPoolOf(2)).Change(going), check.Vacuous, ""},
		"a gap": {
			lowered().Gap(karpenter.NodePools, "410").Change(restingClaim(1).Deleting()), check.Unknown, "gap",
		},
	})
}
