package invariant

import (
	"testing"
	"time"

	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/e2e/history/historytest"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
)

func TestReplacedFirst(t *testing.T) {
	marked := func(i int) *historytest.Thing { return member(i).Taint(karpenter.DisruptedTaint) }
	ready := func(i int) *historytest.Thing { return itsClaim(i).True(karpenter.Initialized) }
	launching := func(i int) *historytest.Thing {
		return historytest.Report(karpenter.EventSource, reasonLaunching, itsClaim(i))
	}
	terminating := func(i int) *historytest.Thing {
		return historytest.Report(karpenter.EventSource, karpenter.ReasonDisruptionTerminating, itsClaim(i))
	}
	expiring := func(i int) *historytest.Thing {
		return itsClaim(i).Set("10s", "spec", "expireAfter").Set("2026-01-02T15:04:05Z", "metadata", "creationTimestamp")
	}
	begin := func() *historytest.Story {
		return historytest.Begin().Add(member(0), ready(0), member(1), ready(1)).Start()
	}
	// Claim 0 is disrupted, claim 10 is made to replace it.
	replacing := func() *historytest.Story { return begin().Change(marked(0)).Add(itsClaim(10), launching(10)) }
	two := func() *historytest.Story {
		return begin().Change(marked(0), marked(1)).Add(itsClaim(10), itsClaim(11), launching(10), launching(11))
	}

	judgeEach(t, replacedFirst(), map[string]outcome{
		"one after the other": {
			replacing().Change(ready(10)).Change(ready(0).Deleting()).Add(terminating(0)),
			check.Holds, "",
		},
		"too early": {
			replacing().Change(ready(0).Deleting()).Change(ready(10)).Add(terminating(0)), check.Broken,
			"the deletion of NodeClaim c0 began when its replacement c10 was not initialized",
		},
		"before there is one": {
			begin().Change(marked(0)).Change(ready(0).Deleting()).Add(itsClaim(10), launching(10)).Change(ready(10)).
				Add(terminating(0)), check.Broken,
			"the deletion of NodeClaim c0 began when its replacement c10 was not initialized",
		},
		"before there is one, beside an honest one": {
			two().Change(ready(11)).Change(ready(1).Deleting()).Add(terminating(1)).
				Change(ready(0).Deleting()).Delete(ready(1)).Add(itsClaim(12), launching(12), terminating(0)), check.Broken,
			"of NodeClaim c0",
		},
		"deleted before it was chosen": {
			begin().Change(ready(0).Deleting()).Change(marked(0)).Add(itsClaim(10), launching(10), terminating(0)),
			check.Vacuous, "",
		},
		"deleted before it was chosen, and another is replaced": {
			begin().Change(marked(1)).Add(itsClaim(11), launching(11)).Change(ready(11)).
				Change(ready(0).Deleting()).Change(ready(0).True(karpenter.DisruptionReason).Deleting()).
				Add(itsClaim(10), launching(10)).Change(ready(1).Deleting()).Add(terminating(1), terminating(0)),
			check.Holds, "",
		},
		"tainted from the start": {
			begin().Change(marked(1)).Start().Change(marked(0)).Change(ready(0).Deleting()).Add(itsClaim(10), launching(10)).
				Change(ready(1).Deleting()).Add(terminating(0), terminating(1)), check.Vacuous, "",
		},
		"empty, and another is replaced": {
			begin().Change(marked(0)).Change(ready(0).Deleting()).Add(terminating(0)).
				Change(marked(1)).Add(itsClaim(11), launching(11)).Change(ready(11)).Change(ready(1).Deleting()).
				Add(terminating(1)), check.Holds, "",
		},
		"said late": {begin().Change(marked(0)).Add(itsClaim(10)).Change(ready(0).Deleting()).
			Add(terminating(0), launching(10)), check.Broken, "c10"},
		"said very late": {
			begin().Change(marked(0)).Add(itsClaim(10)).Change(ready(10)).Add(launching(10)),
			check.Holds, "",
		},
		"deleted by somebody else": {replacing().Change(ready(0).Deleting()).Change(ready(10)), check.Vacuous, ""},
		"deleted by a user meanwhile": {
			replacing().Add(historytest.Report(Harness, ReasonDeleted, itsClaim(0))).Change(ready(0).Deleting()).
				Change(ready(10)).Add(terminating(0)), check.Vacuous, "",
		},
		"its node is deleted by a user meanwhile": {
			replacing().Add(historytest.Report(Harness, ReasonDeleted, member(0))).Change(ready(0).Deleting()).
				Change(ready(10)).Add(terminating(0)), check.Vacuous, "",
		},
		"chosen while a user deletes it": {
			begin().Add(historytest.Report(Harness, ReasonDeleted, itsClaim(0))).Change(marked(0)).
				Add(itsClaim(10), launching(10)).Change(ready(0).Deleting()).Change(ready(10)).Add(terminating(0)),
			check.Vacuous, "",
		},
		"another is deleted by a user": {
			replacing().Add(historytest.Report(Harness, ReasonDeleted, itsClaim(1))).Change(ready(0).Deleting()).
				Change(ready(10)).Add(terminating(0)), check.Broken, "c10",
		},
		"deleted with its replacement": {
			replacing().Change(itsClaim(10).Deleting()).Change(ready(0).Deleting()).Change(ready(10).Deleting()).
				Add(terminating(0)), check.Vacuous, "",
		},
		"for pods, not to replace": {begin().Change(marked(0)).Add(itsClaim(10)).Change(ready(0).Deleting()).
			Add(terminating(0)), check.Vacuous, ""},
		"one of two, the other's": {
			two().Change(ready(11)).Change(ready(1).Deleting()).Add(terminating(1)),
			check.Holds, "",
		},
		"both of two, one too early": {two().Change(ready(11)).Change(ready(1).Deleting(), ready(0).Deleting()).
			Add(terminating(1), terminating(0)), check.Broken, "c10"},
		"given up": {
			replacing().Change(member(0)).Change(ready(0).Deleting()).Add(terminating(0)),
			check.Vacuous, "",
		},
		"expired meanwhile": {begin().Change(expiring(0)).Change(marked(0)).Add(itsClaim(10), launching(10)).
			After(time.Minute).
			Change(expiring(0).Deleting()).Add(terminating(0)), check.Vacuous, ""},
		"expired": {
			begin().Change(expiring(0).Deleting()).Change(marked(0).Deleting()).Add(itsClaim(10)),
			check.Vacuous, "",
		},
		"nothing disrupted": {begin().Add(itsClaim(10)).Change(ready(10)), check.Vacuous, "nothing was replaced"},
		"a gap": {replacing().Gap(karpenter.NodeClaims, "410").Change(ready(0).Deleting()).
			Add(terminating(0)), check.Unknown, "gap"},
	})
}

func TestReplacedWherePodsNeedIt(t *testing.T) {
	pool := func() *historytest.Thing { return historytest.Pool("p") }
	claim := func() *historytest.Thing { return itsClaim(0).Pool("p").On("n0").True(karpenter.Initialized) }
	pod := func() *historytest.Thing {
		return historytest.Pod("a", "w").On("n0").Phase("Running").True("PodScheduled")
	}
	host := func() *historytest.Thing { return historytest.Node("host").Ready().Taint("host") }
	why := func(reason string) *historytest.Thing { return claim().Because(karpenter.DisruptionReason, reason) }
	terminating := historytest.Report(karpenter.EventSource, karpenter.ReasonDisruptionTerminating, claim())
	// tell returns a story of a claim that is chosen for a reason and deleted.
	tell := func(reason string, others ...*historytest.Thing) *historytest.Story {
		return historytest.Begin().Add(member(0), claim()).Add(others...).Start().After(time.Minute).
			Change(member(0).Taint(karpenter.DisruptedTaint), why(reason)).Change(why(reason).Deleting()).Add(terminating)
	}
	const breach = "the deletion of NodeClaim c0 began when there was no replacement, and no other node for pod default/a"
	judgeEach(t, replacedFirst(), map[string]outcome{
		"drifted":             {tell("Drifted", pool(), pod()), check.Broken, breach},
		"underutilized":       {tell("Underutilized", pool(), pod()), check.Broken, breach},
		"beside a barred one": {tell("Drifted", pool(), pod(), host()), check.Broken, breach},
		"beside another node": {tell("Drifted", pool(), pod(), host().Untaint("host")), check.Vacuous, ""},
		"it tolerates the other": {
			tell("Drifted", pool(), pod().Set([]any{map[string]any{"key": "host", "operator": "Exists"}}, "spec", "tolerations"),
				host()), check.Vacuous, "",
		},
		"beside another claim": {tell("Drifted", pool(), pod(), itsClaim(1)), check.Vacuous, ""},
		"beside one that goes": {tell("Drifted", pool(), pod(), itsClaim(1).Deleting()), check.Broken, breach},
		"without pods":         {tell("Drifted", pool()), check.Vacuous, ""},
		"with a daemon": {tell("Drifted", pool(),
			pod().Set([]any{map[string]any{"kind": "DaemonSet"}}, "metadata", "ownerReferences")), check.Vacuous, ""},
		"with a pod at its end": {tell("Drifted", pool(), pod().Phase("Succeeded")), check.Vacuous, ""},
		"with a pod to be kept": {
			tell("Drifted", pool(), pod().Annotate(karpenter.DoNotDisruptAnnotation, "true")),
			check.Vacuous, "",
		},
		"with a budget for pods": {tell("Drifted", pool(), pod(),
			historytest.Other(karpenter.PodDisruptionBudgets, "PodDisruptionBudget", "default", "b")), check.Vacuous, ""},
		"with a pod that came": {tell("Drifted", pool(), pod().False("PodScheduled")), check.Vacuous, ""},
		"empty":                {tell("Empty", pool(), pod()), check.Vacuous, ""},
		"unhealthy":            {tell("Unhealthy", pool(), pod()), check.Vacuous, ""},
		"of a static pool":     {tell("Drifted", pool().Set(int64(1), "spec", "replicas"), pod()), check.Vacuous, ""},
		"its pool is gone":     {tell("Drifted", pod()), check.Vacuous, ""},
		"a gap":                {tell("Drifted", pool(), pod()).Gap(karpenter.Nodes, "410"), check.Unknown, "gap"},
		"somebody else deletes it": {
			historytest.Begin().Add(member(0), claim(), pool(), pod()).Start().After(time.Minute).
				Change(member(0).Taint(karpenter.DisruptedTaint), why("Drifted")).Change(why("Drifted").Deleting()),
			check.Vacuous, "",
		},
	})
}
