package invariant

import (
	"fmt"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/e2e/history/historytest"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
)

func TestComesToRest(t *testing.T) {
	pool := func(spec string) *historytest.Thing { return historytest.Pool("p").Set(spec, "spec", "template") }
	claim := func() *historytest.Thing {
		return historytest.NodeClaim("c").Pool("p").Set(at(0), "metadata", "creationTimestamp")
	}
	drifted := func() *historytest.Thing { return claim().True(karpenter.Drifted) }
	initialized := func(since string) *historytest.Thing {
		return claim().Set([]any{map[string]any{
			"type": karpenter.Initialized, "status": "True",
			"lastTransitionTime": since,
		}}, "status", "conditions")
	}
	class := historytest.Other(schema.GroupVersionResource{
		Group: "karpenter.cloud.com", Version: "v1",
		Resource: "nodeclasses",
	}, "NodeClass", "", "k")
	begin := func() *historytest.Story { return historytest.Begin().Add(pool("a")).Start().Add(claim()) }
	late := func() *historytest.Thing {
		return historytest.NodeClaim("c").Pool("p").Set(at(time.Minute), "metadata", "creationTimestamp")
	}
	judgeEach(t, comesToRest(), map[string]outcome{
		"drifts once": {begin().Change(pool("b")).Change(drifted()), check.Holds, ""},
		"comes and goes": {
			begin().Change(pool("b")).Change(drifted()).Change(claim()).Change(drifted()),
			check.Broken, "came, went and came again",
		},
		"with input": {begin().Change(pool("b")).Change(drifted()).Change(pool("a")).Change(claim()).
			Change(pool("b")).Change(drifted()), check.Holds, ""},
		"with input to its class": {
			begin().Change(drifted()).Change(claim()).Change(class).Change(drifted()),
			check.Holds, "",
		},
		"with a hook": {begin().Change(drifted()).Change(claim()).
			Add(historytest.Report(Harness, ReasonHook, class)).Change(drifted()), check.Holds, ""},
		"with another Event": {
			begin().Change(drifted()).Change(claim()).
				Add(historytest.Report("kubelet", ReasonHook, class)).Change(drifted()),
			check.Broken, "came, went and came again",
		},
		"drifts, new, with a hook": {historytest.Begin().Add(pool("a")).After(time.Minute).Add(late()).
			Add(historytest.Report(Harness, ReasonHook, class)).Change(late().True(karpenter.Drifted)), check.Holds, ""},
		"lost while it registers": {begin().Change(drifted()).Change(claim().True(karpenter.Registered)).
			Change(drifted().True(karpenter.Registered)), check.Holds, ""},
		"lost to another's word": {begin().Change(drifted()).Change(claim().True(karpenter.DisruptionReason)).
			Change(drifted().True(karpenter.DisruptionReason)), check.Holds, ""},
		"lost to a word said again": {
			begin().Change(initialized(at(0)).True(karpenter.Drifted)).Change(initialized(at(time.Second))).
				Change(initialized(at(time.Second)).True(karpenter.Drifted)),
			check.Holds, "",
		},
		"brought back by another's word": {
			begin().Change(pool("b")).Change(drifted()).Change(claim()).Change(drifted().True(karpenter.Registered)).
				Change(claim().True(karpenter.Registered)),
			check.Holds, "",
		},
		"lost beside an old word": {
			begin().Change(initialized(at(0)).True(karpenter.Drifted)).Change(initialized(at(0))).
				Change(initialized(at(0)).True(karpenter.Drifted)),
			check.Broken, "came, went and came again",
		},
		"drifts though it is new": {historytest.Begin().Add(pool("a")).After(time.Minute).Add(late()).
			Change(late().True(karpenter.Drifted)), check.Broken, "and was made 1m0s after the last change"},
		"drifts, new, with input": {historytest.Begin().Add(pool("a")).After(time.Minute).Add(late()).Change(class).
			Change(late().True(karpenter.Drifted)), check.Holds, ""},
		"made for a pool that goes": {begin().Change(pool("a").Deleting()).After(underway + time.Second).
			Add(historytest.NodeClaim("d").Pool("p")), check.Broken, "for pool p, 11s after the pool's deletion"},
		"made for a pool that went": {begin().Delete(pool("a")).After(underway + time.Second).
			Add(historytest.NodeClaim("d").Pool("p")), check.Broken, "for pool p, 11s after the pool's deletion"},
		"was underway": {begin().Change(pool("a").Deleting()).After(time.Second).
			Add(historytest.NodeClaim("d").Pool("p")), check.Holds, ""},
		"the pool comes again": {begin().Delete(pool("a")).Add(pool("a").UID("2")).After(time.Hour).
			Add(historytest.NodeClaim("d").Pool("p")), check.Holds, ""},
		"made for a pool that is not ready": {
			begin().Change(pool("a").False(karpenter.Ready)).After(time.Minute).
				Change(pool("b").False(karpenter.Ready)).Add(historytest.NodeClaim("d").Pool("p")), check.Broken,
			"for pool p, which has not been ready for 1m0s",
		},
		"made soon after a pool was ready": {
			begin().Change(pool("a").True(karpenter.Ready)).After(time.Minute).
				Change(pool("a").False(karpenter.Ready)).After(20 * time.Second).Add(historytest.NodeClaim("d").Pool("p")),
			check.Holds, "",
		},
		"made for a pool that is ready again": {begin().Change(pool("a").False(karpenter.Ready)).After(time.Minute).
			Change(pool("a").True(karpenter.Ready)).Add(historytest.NodeClaim("d").Pool("p")), check.Holds, ""},
		"made for a static pool that is not ready": {begin().
			Change(pool("a").Set(int64(1), "spec", "replicas").False(karpenter.Ready)).After(time.Minute).
			Add(historytest.NodeClaim("d").Pool("p")), check.Holds, ""},
		"nothing is made": {historytest.Begin().Add(pool("a")), check.Vacuous, "no NodeClaim was made"},
		"not of a pool":   {historytest.Begin().Add(historytest.NodeClaim("c")), check.Vacuous, ""},
		"a gap":           {begin().Gap(karpenter.NodePools, "410"), check.Unknown, "gap"},
		"comes and goes, with a gap": {
			begin().Change(drifted()).Gap(karpenter.NodePools, "410").Change(claim()).Change(drifted()),
			check.Unknown, "gap",
		},
	})
}

func TestRunaway(t *testing.T) {
	// makes returns a story of a pool that gets and loses n NodeClaims.
	makes := func(n int, every time.Duration, before func(*historytest.Story)) *historytest.Story {
		s := historytest.Begin().Add(historytest.Pool("p"))
		before(s)
		for i := range n {
			c := historytest.NodeClaim(fmt.Sprint("c", i)).Pool("p")
			s.After(every).Add(c).Delete(c)
		}
		return s
	}
	nothing := func(*historytest.Story) {}
	pods := func(s *historytest.Story) {
		for i := range 10 {
			s.Add(historytest.Pod(fmt.Sprint("p", i), "w"))
		}
	}
	static := func(s *historytest.Story) { s.Change(historytest.Pool("p").Set(int64(50), "spec", "replicas")) }
	judgeEach(t, comesToRest(), map[string]outcome{
		"every second, for nobody": {
			makes(60, time.Second, nothing), check.Broken,
			"pool p got 31 NodeClaims within 30s although nothing changed; at most 30 are allowed",
		},
		"now and then":      {makes(60, 10*time.Second, nothing), check.Holds, ""},
		"for pods":          {makes(50, time.Second, pods), check.Holds, ""},
		"too many for pods": {makes(51, time.Second, pods), check.Broken, "at most 50 are allowed"},
		"for replicas":      {makes(130, 100*time.Millisecond, static), check.Holds, ""},
	})
}

func TestMovedAgainAndAgain(t *testing.T) {
	claim := historytest.NodeClaim("c").Pool("p").On("n").Because(karpenter.DisruptionReason, "Underutilized")
	// moves returns a story of a workload of two pods, which are evicted n times in all.
	moves := func(n int, between func(*historytest.Story)) *historytest.Story {
		pod := func(i int) *historytest.Thing {
			return historytest.Pod(fmt.Sprint("p", i), "w").On("n").UID(fmt.Sprint(i))
		}
		s := historytest.Begin().Add(historytest.Pool("p"), claim).Change(claim).Add(pod(0), pod(1))
		for i := range n {
			s.Change(evict(pod(i))).Change(evict(pod(i)).Deleting()).Add(pod(i + 2)).Delete(evict(pod(i)).Deleting())
			between(s)
		}
		return s
	}
	nothing := func(*historytest.Story) {}
	scaled := func(s *historytest.Story) { // another workload shrinks
		other := historytest.Pod("other", "v").UID("other")
		s.Add(other).Delete(other)
	}
	judgeEach(t, comesToRest(), map[string]outcome{
		"twice each": {moves(4, nothing), check.Holds, ""},
		"more than that": {
			moves(5, nothing), check.Broken,
			"that makes 5 evictions of its workload, which has 2 pods at most",
		},
		"with input": {moves(20, scaled), check.Holds, ""},
		"not by Karpenter": {historytest.Begin().Add(historytest.Pod("a", "w").On("n")).
			Change(evict(historytest.Pod("a", "w").On("n"))), check.Vacuous, ""},
	})
}
