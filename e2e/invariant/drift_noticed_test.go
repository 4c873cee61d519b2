package invariant

import (
	"testing"
	"time"

	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/e2e/history/historytest"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
)

func TestDriftNoticed(t *testing.T) {
	hashed := func(o *historytest.Thing, hash string) *historytest.Thing {
		return o.Annotate(karpenter.NodePoolHashAnnotation, hash).
			Annotate(karpenter.NodePoolHashVersionAnnotation, "v3")
	}
	pool := func(hash string) *historytest.Thing { return hashed(historytest.Pool("p").Ready(), hash) }
	claim := func() *historytest.Thing {
		return hashed(historytest.NodeClaim("c").Pool("p"), "1").True(karpenter.Launched)
	}
	drifted := func(why string) *historytest.Thing { return claim().Because(karpenter.Drifted, why) }
	event := func(reason string) *historytest.Thing {
		return historytest.Report(Harness, reason, historytest.Pod("karpenter", "host"))
	}
	of := func(claim *historytest.Thing) *historytest.Story {
		return historytest.Begin().Add(pool("1"), claim).Start()
	}
	// changed returns a story of a pool that gets another hash.
	changed := func(claim *historytest.Thing) *historytest.Story { return of(claim).Change(pool("2")) }
	back := func() *historytest.Story {
		return changed(claim()).Change(drifted(nodePoolDrifted)).Change(pool("1"))
	}
	later, end := driftWithin+time.Second, historytest.Pool("q")
	late := func(s *historytest.Story) *historytest.Story { return s.After(later).Add(end) }
	judgeEach(t, driftNoticed(), map[string]outcome{
		"nothing changes": {late(of(claim())), check.Vacuous, "no NodeClaim had another hash"},
		"drifts": {
			late(changed(claim()).After(driftWithin).Change(drifted(nodePoolDrifted))), check.Holds, "",
		},
		"drifts for another reason": {
			late(changed(claim()).Change(drifted("RequirementsDrifted"))), check.Holds, "",
		},
		"doesn't drift": {
			late(changed(claim())), check.Broken,
			"NodeClaim c has not drifted, although its hash is not its pool's, and has been so for 21s",
		},
		"never did": {late(historytest.Begin().Add(pool("2"), claim()).Start()), check.Broken, "has not drifted"},
		"doesn't drift, as the pool changes again": {
			late(changed(claim()).After(driftWithin).Change(pool("3"))), check.Broken, "has not drifted",
		},
		"too early to tell": {changed(claim()).After(driftWithin).Add(end), check.Vacuous, ""},
		"is back":           {late(back().After(time.Second).Change(claim())), check.Holds, ""},
		"stays drifted": {
			late(back()), check.Broken, "has drifted (NodePoolDrifted), although its hash is its pool's",
		},
		"stays drifted for another reason": {late(back().Change(drifted("Image"))), check.Holds, ""},
		"the NodeClass isn't ready": {
			late(back().Change(pool("1").False(karpenter.Ready))), check.Holds, "",
		},
		"is not launched":           {late(changed(claim().False(karpenter.Launched))), check.Vacuous, ""},
		"is being deleted":          {late(changed(claim()).Change(claim().Deleting())), check.Vacuous, ""},
		"is gone":                   {late(changed(claim()).Delete(claim())), check.Vacuous, ""},
		"the pool is being deleted": {late(changed(claim()).Change(pool("2").Deleting())), check.Vacuous, ""},
		"the pool is gone":          {late(changed(claim()).Delete(pool("2"))), check.Vacuous, ""},
		"the pool has no hash":      {late(of(claim()).Change(historytest.Pool("p").Ready())), check.Vacuous, ""},
		"of another version": {
			late(changed(claim().Annotate(karpenter.NodePoolHashVersionAnnotation, "v2"))), check.Vacuous, "",
		},
		"of no pool": {
			late(changed(hashed(historytest.NodeClaim("c"), "1").True(karpenter.Launched))), check.Vacuous, "",
		},
		"after a hook": {late(changed(claim()).Add(event(ReasonHook))), check.Vacuous, ""},
		"long after a hook": {
			changed(claim()).Add(event(ReasonHook)).After(recovery + later).Add(end), check.Broken, "",
		},
		"during an upgrade": {late(changed(claim()).Add(event(ReasonUpgrade))), check.Vacuous, ""},
		"long after a fault": {
			changed(claim()).Add(event(ReasonFault)).After(recovery + later).Add(end), check.Vacuous, "",
		},
		"after a kill": {late(changed(claim()).Add(event(ReasonKilled))), check.Vacuous, ""},
		"long after a kill": {
			changed(claim()).Add(event(ReasonKilled)).After(takesOver + later).Add(end), check.Broken, "",
		},
		"a gap": {late(changed(claim()).Gap(karpenter.NodeClaims, "410")), check.Unknown, "gap"},
	})
}
