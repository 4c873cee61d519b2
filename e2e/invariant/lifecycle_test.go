package invariant

import (
	"testing"
	"time"

	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/e2e/history/historytest"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
)

func TestLifecycleCloses(t *testing.T) {
	pool := historytest.Pool("p")
	made := func() *historytest.Thing { return historytest.NodeClaim("c0").Pool("p") }
	launched := func() *historytest.Thing { return made().Set("id0", "status", "providerID").True(karpenter.Launched) }
	registered := func() *historytest.Thing { return launched().True(karpenter.Registered) }
	joined := func() *historytest.Thing {
		return historytest.Node("n0").Pool("p").Set("id0", "spec", "providerID").Taint(karpenter.UnregisteredTaint)
	}
	owned := func(node *historytest.Thing) *historytest.Thing {
		return node.Set([]any{map[string]any{"kind": "NodeClaim", "uid": "NodeClaim//c0"}}, "metadata", "ownerReferences").
			Label(karpenter.RegisteredLabel, "true")
	}
	pod := historytest.Pod("w", "app").On("n0")
	launch := func() *historytest.Story {
		return historytest.Begin().Add(pool, made()).Add(joined()).Change(launched())
	}
	up := func() *historytest.Story { return launch().Change(owned(joined())).Change(registered()).Add(pod) }
	end := func(s *historytest.Story) *historytest.Story { // some time passes
		return s.After(time.Hour).Add(historytest.Pod("other", "app"))
	}

	jumped := func(by time.Duration) *historytest.Story { // the clock, by six minutes, once the node is gone
		jump := historytest.Report(Harness, ReasonJump, historytest.Pod("any", "any")).
			Set("the spec lets the clock jump by 6m0s", "message")
		return up().Delete(owned(joined())).Delete(registered()).After(time.Second).Add(jump).After(by).
			Add(historytest.Pod("other", "app"))
	}

	judgeEach(t, lifecycleCloses(), map[string]outcome{
		"comes and goes": {end(up().Delete(pod).Delete(owned(joined())).Delete(registered(), pool)), check.Holds, ""},
		"a second instance": {
			up().Change(registered().Set("id1", "status", "providerID")), check.Broken,
			`NodeClaim c0 had the instance id0, and now has "id1"`,
		},
		"forgets its instance": {up().Change(made()), check.Broken, `now has ""`},
		"an instance of two claims": {
			up().Add(historytest.NodeClaim("c1").Set("id0", "status", "providerID")),
			check.Broken, "have the same instance, id0",
		},
		"two nodes of one instance": {
			up().Add(historytest.Node("n1").Set("id0", "spec", "providerID")), check.Broken,
			"are the same instance, id0",
		},
		"two nodes of one claim": {
			up().Add(owned(historytest.Node("n1").Set("id1", "spec", "providerID"))),
			check.Broken, "nodes n0 and n1 have the same NodeClaim",
		},
		"another node": {
			up().Change(registered().On("n0")).Change(registered().On("n1")), check.Broken,
			`NodeClaim c0 had the node n0, and now has "n1"`,
		},
		"another instance's node": {up().Add(historytest.Node("n1").Set("id1", "spec", "providerID")).
			Change(registered().On("n1")), check.Broken, "that node is the instance id1"},
		"the claim goes before its node": {
			up().Delete(registered()), check.Broken,
			"NodeClaim c0 is gone before its node n0",
		},
		"the claim outlives its node": {
			end(up().Delete(pod).Delete(owned(joined()))), check.Broken,
			"NodeClaim c0 is still there, and its node is gone, for longer than 5m0s",
		},
		"the pod outlives its node": {
			end(up().Delete(owned(joined())).Delete(registered())), check.Broken,
			"pod w is still there",
		},
		"the clock jumps before the pod goes": {jumped(7 * time.Minute), check.Holds, ""},
		"the pod outlives its node and a jump": {
			jumped(9 * time.Minute), check.Broken, "pod w is still there",
		},
		"the node was never registered": {end(launch().Delete(launched())), check.Broken, "node n0 has no NodeClaim"},
		"nor is it at the end": {
			launch().Delete(launched(), pool).After(time.Minute).Add(historytest.Pod("other", "app")), check.Broken,
			"all NodePools and NodeClaims are gone, and node n0 is left",
		},
		"another instance joins": {
			end(up().Add(historytest.Node("n1").Pool("p").Set("id1", "spec", "providerID"))),
			check.Broken, "node n1 has no NodeClaim",
		},
		"it was alone before": {
			end(historytest.Begin().Add(pool, joined()).Start().Change(joined().Ready())),
			check.Vacuous, "",
		},
		"it never launches": {
			end(historytest.Begin().Add(pool, made())), check.Broken,
			"NodeClaim c0 has no instance and is not being deleted, for longer than 7m0s",
		},
		"its launch is given up": {end(historytest.Begin().Add(pool, made()).Change(made().Deleting())), check.Vacuous, ""},
		"it never joins": {
			end(historytest.Begin().Add(pool, made()).Change(launched())), check.Broken,
			"has an instance, no node",
		},
		"it is too early to say": {
			launch().Delete(launched()).After(time.Minute).Add(historytest.Pod("other", "app")),
			check.Holds, "",
		},
		"somebody else's node":     {end(up().Add(historytest.Node("x"))), check.Holds, ""},
		"no instance":              {historytest.Begin().Add(pool, made()), check.Vacuous, "no instance was launched"},
		"a gap":                    {up().Gap(karpenter.Nodes, "410").Delete(registered()), check.Unknown, "gap"},
		"a gap, and nothing wrong": {up().Gap(karpenter.Nodes, "410"), check.Unknown, "gap"},
	})
}

func TestALeakedNodeMayStayAsLongAsTheProviderTakes(t *testing.T) {
	for stays, want := range map[time.Duration]check.Verdict{
		7 * time.Minute: check.Vacuous, 9 * time.Minute: check.Broken,
	} {
		leaked := historytest.Begin().Add(historytest.Pool("p")).
			Add(historytest.Node("n0").Pool("p").Set("id0", "spec", "providerID")).
			After(stays).Add(historytest.Pod("other", "app")).History()
		f := lifecycleCloses().Check(Params{InstanceGC: 8 * time.Minute}).Judge(leaked)
		if f.Verdict != want {
			t.Errorf("%s: want %s, got %s", stays, want, f)
		}
	}
}
