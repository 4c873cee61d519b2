package invariant

import (
	"testing"
	"time"

	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/e2e/history/historytest"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
)

func TestTaintedFirst(t *testing.T) {
	node := func() *historytest.Thing {
		return historytest.Node("n").Pool("p").Set("id", "spec", "providerID").Ready()
	}
	claim := func() *historytest.Thing {
		return historytest.NodeClaim("c").Pool("p").Set("id", "status", "providerID")
	}
	chosen := func() *historytest.Thing { return claim().True(karpenter.DisruptionReason) }
	later := func() *historytest.Thing {
		return claim().Set([]any{
			map[string]any{"type": karpenter.Rebooting, "status": "False", "lastTransitionTime": "2026-01-02T15:04:05Z"},
			map[string]any{"type": karpenter.DisruptionReason, "status": "True", "lastTransitionTime": "2026-01-02T15:04:06Z"},
		}, "status", "conditions")
	}
	marked := func() *historytest.Thing { return node().Taint(karpenter.DisruptedTaint) }
	pod := func() *historytest.Thing { return historytest.Pod("w", "app") }
	evicted := func() *historytest.Thing {
		return pod().On("n").Set([]any{map[string]any{
			"type": "DisruptionTarget", "status": "True", "reason": "EvictionByEvictionAPI",
		}}, "status", "conditions")
	}
	begin := func() *historytest.Story { return historytest.Begin().Add(node(), claim(), pod().On("n")).Start() }
	tolerant := pod().On("n").Set([]any{map[string]any{"operator": "Exists"}}, "spec", "tolerations")

	judgeEach(t, taintedFirst(), map[string]outcome{
		"tainted, deleted, drained": {begin().Change(marked()).Change(chosen()).Change(chosen().Deleting()).
			Change(marked().Deleting()).Change(evicted()), check.Holds, ""},
		"deleted without the taint": {
			begin().Change(chosen()).Change(chosen().Deleting()), check.Broken,
			"is being deleted to disrupt node n",
		},
		"drained without the taint": {
			begin().Change(node().Deleting()).Change(evicted()), check.Broken,
			"pod default/w is evicted from node n",
		},
		"drained before its deletion": {
			begin().Change(chosen()).Change(evicted()), check.Broken,
			"pod default/w is evicted from node n",
		},
		"drained by somebody else": {begin().Change(evicted()), check.Vacuous, ""},
		"loses the taint": {
			begin().Change(marked().Deleting()).Change(node().Deleting()), check.Broken,
			"loses the taint",
		},
		"a pod is bound after": {
			begin().Change(marked()).After(3 * time.Second).Add(pod().UID("2").On("n")),
			check.Broken, "is bound to node n, 3s after",
		},
		"a pod is bound right after": {
			begin().Change(marked()).After(time.Second).Add(pod().UID("2").On("n")),
			check.Vacuous, "",
		},
		"a pod that tolerates it": {begin().Change(marked()).After(3 * time.Second).Add(tolerant), check.Vacuous, ""},
		"given up": {begin().Change(marked()).Change(chosen()).Change(node()).Change(claim()).
			After(time.Minute).Change(node()), check.Holds, ""},
		"given up, and the taint stays a little": {begin().Change(marked()).Change(chosen()).Change(claim()).
			After(time.Second).Change(node()).After(time.Minute).Change(node()), check.Holds, ""},
		"given up, and the taint stays": {begin().Change(marked()).Change(chosen()).Change(claim()).
			After(time.Minute).Change(marked()), check.Broken, "still, 30s after"},
		"given up, and deleted then": {begin().Change(marked()).Change(chosen()).Change(claim()).
			Change(claim().Deleting()).Delete(claim().Deleting()).After(time.Minute).Change(marked()), check.Holds, ""},
		"given up when the node is deleted": {begin().Change(marked()).Change(chosen()).Change(marked().Deleting()).
			Change(claim()).After(time.Minute).Change(claim()), check.Holds, ""},
		"given up, and the NodeClaim goes": {begin().Change(marked()).Change(chosen()).Change(claim()).Delete(claim()).
			After(time.Minute).Change(marked()), check.Broken, "still, 30s after"},
		"given up, and taken up again": {begin().Change(marked()).Change(chosen()).Change(claim()).
			After(time.Second).Change(chosen()).After(time.Minute).Change(marked()), check.Holds, ""},
		"rebooted": {begin().Change(chosen().True(karpenter.Rebooting)).Change(node().Taint(karpenter.RebootingTaint)).
			Change(evicted()), check.Holds, ""},
		"rebooted without its taint": {
			begin().Change(chosen().True(karpenter.Rebooting)).Change(evicted()), check.Broken,
			"which lacks the taint karpenter.sh/rebooting",
		},
		"rebooted, and deleted then": {begin().Change(chosen().False(karpenter.Rebooting)).
			Change(chosen().False(karpenter.Rebooting).Deleting()), check.Vacuous, ""},
		"rebooted, and disrupted then": {
			begin().Change(later()).Change(later().Deleting()), check.Broken, "is being deleted to disrupt node n",
		},
		"nothing disrupted": {begin().Change(node()), check.Vacuous, "no node was disrupted"},
		"a gap": {
			begin().Gap(karpenter.Nodes, "410").Change(chosen()).Change(chosen().Deleting()),
			check.Unknown, "gap",
		},
	})
}
