package invariant

import (
	"testing"
	"time"

	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/e2e/history/historytest"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
)

func TestPodBudgetsHold(t *testing.T) {
	type object = map[string]any
	node := func() *historytest.Thing {
		return historytest.Node("n").Pool("p").Ready().Set("id", "spec", "providerID")
	}
	marked := func() *historytest.Thing { return node().Taint(karpenter.DisruptedTaint) }
	claim := func() *historytest.Thing {
		return historytest.NodeClaim("c").Pool("p").On("n").Set("id", "status", "providerID")
	}
	pod := func(name string) *historytest.Thing {
		return historytest.Pod(name, "w").On("n").Phase("Running").Ready().Label("app", "w")
	}
	going := func(name string) *historytest.Thing { return pod(name).Deleting() }
	// budget covers the pods with app=w, and asks for this many of them.
	budget := func(desired int64) *historytest.Thing {
		return historytest.Other(karpenter.PodDisruptionBudgets, "PodDisruptionBudget", "default", "b").
			Set(object{"app": "w"}, "spec", "selector", "matchLabels").Set(desired, "status", "desiredHealthy")
	}
	// drained returns a story of three pods under a budget, on a node that is being drained.
	drained := func(budget, claim *historytest.Thing) *historytest.Story {
		return historytest.Begin().Add(node(), claim, budget, pod("1"), pod("2"), pod("3")).After(time.Minute).
			Change(marked())
	}
	of := func(desired int64) *historytest.Story { return drained(budget(desired), claim()) }
	until := func(after time.Duration) *historytest.Thing {
		return claim().Annotate(karpenter.TerminationTimestampAnnotation, at(after))
	}
	selecting := func(selector any) *historytest.Story {
		return drained(budget(3).Set(selector, "spec", "selector"), claim()).Change(going("1")).Add(pod("4"))
	}
	judgeEach(t, podBudgetsHold(), map[string]outcome{
		"evicted": {
			of(2).Change(evict(pod("1"))).Change(evict(going("1"))).Add(pod("4")),
			check.Holds, "",
		},
		"evicted with none to spare": {
			of(3).Change(evict(pod("1"))).Change(evict(going("1"))).Add(pod("4")), check.Holds,
			"",
		}, // the API server decides
		"deleted": {
			of(3).Change(going("1")).Add(pod("4")), check.Broken,
			"this left 2 ready pods where PodDisruptionBudget b asks for 3",
		},
		"deleted, with one to spare": {of(2).Change(going("1")).Add(pod("4")), check.Holds, ""},
		"one too many at once": {
			of(2).Change(going("1"), going("2")).Add(pod("4"), pod("5")), check.Broken,
			"pod default/2 was deleted at 15:05:05",
		},
		"while the node is deleted": {historytest.Begin().Add(marked().Deleting(), claim(), budget(1), pod("1")).Start().
			Change(going("1")).Add(pod("4")), check.Broken, "left 0 ready"},
		"one evicted, one deleted": {of(2).Change(evict(pod("1"))).Change(evict(going("1"))).Change(going("2")).
			Add(pod("4"), pod("5")), check.Broken, "pod default/2"},
		"scaled down": {of(3).Change(going("1")).Delete(going("1")), check.Holds, ""},
		"scaled down, and one evicted": {of(3).Change(evict(pod("2"))).Change(evict(going("2"))).Change(going("1")).
			Add(pod("4")).
			After(time.Minute), check.Holds, ""},
		"scaled up again, later": {of(3).Change(going("1")).After(2 * replacedWithin).Add(pod("4")), check.Holds, ""},
		"another workload's pod": {of(3).Change(going("1")).Add(historytest.Pod("4", "v")), check.Holds, ""},
		"rolled out": {
			of(3).Change(going("1")).Add(pod("4").Label("controller-revision-hash", "2")),
			check.Holds, "",
		},
		"made again when it went": {of(3).Change(going("1")).After(time.Minute).Delete(going("1")).After(time.Second).
			Add(pod("1").UID("2")), check.Broken, breach},
		"ended by Kubernetes": {of(3).Change(going("1").Because("DisruptionTarget", "DeletionByTaintManager")).
			Add(pod("4")), check.Holds, ""},
		"owned by nobody": {historytest.Begin().Add(marked(), claim(), budget(1), bare(pod("1"))).After(time.Minute).
			Change(bare(going("1"))).Add(pod("4")), check.Holds, ""},
		"it was not ready": {historytest.Begin().Add(marked(), claim(), budget(3), pod("1").False("Ready"), pod("2")).
			After(time.Minute).
			Change(going("1").False("Ready")).Add(pod("4")), check.Vacuous, ""},
		"forced at the deadline": {drained(budget(3), until(time.Minute)).After(time.Second).Change(going("1")).
			Add(pod("4")), check.Holds, ""},
		"forced before it": {
			drained(budget(3), until(time.Hour)).Change(going("1")).Add(pod("4")),
			check.Broken, breach,
		},
		"forced for its grace": {historytest.Begin().Add(marked(), until(time.Minute), budget(1), graceful(pod("1"))).
			After(31 * time.Second).Change(graceful(going("1"))).Add(pod("4")), check.Holds, ""},
		"the budget is new": {of(0).Change(budget(3)).Change(going("1")).Add(pod("4")), check.Holds, ""},
		"the budget has changed": {
			of(0).Change(budget(3)).After(time.Minute).Change(going("1")).Add(pod("4")),
			check.Broken, breach,
		},
		"its controller is late": {drained(budget(3).Set(int64(2), "metadata", "generation"), claim()).Change(going("1")).
			Add(pod("4")), check.Holds, ""},
		"the budget goes":   {of(3).Delete(budget(3)).Change(going("1")).Add(pod("4")), check.Vacuous, ""},
		"an empty selector": {selecting(object{}), check.Broken, breach},
		"no selector":       {selecting(nil), check.Vacuous, ""},
		"an unreadable selector": {
			selecting(object{"matchExpressions": []any{object{"key": "a", "operator": "Maybe"}}}),
			check.Vacuous, "",
		},
		"a matching expression": {
			selecting(object{"matchExpressions": []any{object{"key": "app", "operator": "Exists"}}}),
			check.Broken, breach,
		},
		"another namespace's": {drained(budget(3).Set("other", "metadata", "namespace"), claim()).Change(going("1")).
			Add(pod("4")), check.Vacuous, ""},
		"nobody drained the node": {historytest.Begin().Add(node(), claim(), budget(3), pod("1"), pod("2"), pod("3")).
			After(time.Minute).Change(going("1")).Add(pod("4")), check.Vacuous, "no ready pod"},
		"not Karpenter's node": {historytest.Begin().Add(marked(), budget(1), pod("1")).After(time.Minute).
			Change(going("1")).Add(pod("4")), check.Vacuous, ""},
		"held back to the end": {of(3).Change(marked().Deleting()).After(time.Hour).Change(node()), check.Holds, ""},
		"a gap":                {of(3).Gap(karpenter.Pods, "410").Change(going("1")).Add(pod("4")), check.Unknown, "gap"},
	})
}

const breach = "this left 2 ready pods"

// bare returns a pod that nobody recreates.
func bare(pod *historytest.Thing) *historytest.Thing {
	return pod.Set([]any{}, "metadata", "ownerReferences")
}

func graceful(pod *historytest.Thing) *historytest.Thing {
	return pod.Set(int64(30), "spec", "terminationGracePeriodSeconds")
}
