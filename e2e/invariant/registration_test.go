package invariant

import (
	"testing"

	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/e2e/history/historytest"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
)

func TestRegisteredWhole(t *testing.T) {
	// The node's claim has a label, a taint and a startup taint for it.
	claim := historytest.NodeClaim("c").Label("a", "b").Taint("dedicated").
		Set([]any{map[string]any{"key": "starting", "effect": "NoSchedule"}}, "spec", "startupTaints").
		Set("id", "status", "providerID")
	demanding := func(value string) *historytest.Thing {
		return historytest.NodeClaim("c").Label("a", value).Taint("dedicated").Set("id", "status", "providerID")
	}
	begin := func() *historytest.Story { return historytest.Begin().Add(claim).Start() }
	bare := func() *historytest.Thing { return historytest.Node("n").Set("id", "spec", "providerID") }
	joining := func() *historytest.Thing { return bare().Taint(karpenter.UnregisteredTaint) }
	registered := func() *historytest.Thing {
		return bare().Label("a", "b").Taint("dedicated").Taint("starting").Label(karpenter.RegisteredLabel, "true")
	}
	started := func() *historytest.Thing { return registered().Untaint("starting") }

	judgeEach(t, registeredWhole(), map[string]outcome{
		"whole": {begin().Add(joining()).Change(registered()), check.Holds, ""},
		"whole, and starts up": {
			begin().Add(joining()).Change(registered()).Change(started()).Change(started()),
			check.Holds, "",
		},
		"joins without the taint": {
			begin().Add(bare()).Change(joining()).Change(registered()), check.Broken,
			"joined without the taint",
		},
		"loses the taint before": {begin().Add(joining()).Change(bare()), check.Broken, "without being registered"},
		"keeps the taint": {
			begin().Add(joining()).Change(registered().Taint(karpenter.UnregisteredTaint)),
			check.Broken, "still",
		},
		"joins as if registered": {begin().Add(registered()), check.Broken, "joins with the label"},
		"lacks a label":          {begin().Add(joining()).Change(registered().Label("a", "c")), check.Broken, "label a=b"},
		"lacks a taint": {
			begin().Add(joining()).Change(registered().Untaint("dedicated")), check.Broken,
			"taint dedicated:NoSchedule",
		},
		"lacks a startup taint": {begin().Add(joining()).Change(started()), check.Broken, "taint starting:NoSchedule"},
		"its provider syncs taints": {
			begin().Add(joining()).Change(started().Label(karpenter.DoNotSyncTaintsLabel, "true")),
			check.Holds, "",
		},
		"has no claim": {
			begin().Add(joining()).Change(registered().Set("other", "spec", "providerID")),
			check.Broken, "no NodeClaim has its provider ID",
		},
		"lacks an annotation": {
			historytest.Begin().Start().Add(historytest.NodeClaim("c").Annotate("note", "x")).
				Change(demanding("b")).Add(joining()).Change(registered()),
			check.Broken, "annotation note=x",
		},
		"has an annotation": {
			historytest.Begin().Start().Add(historytest.NodeClaim("c").Annotate("note", "x")).
				Change(demanding("b").Annotate("note", "x")).Add(joining()).Change(registered().Annotate("note", "x")),
			check.Holds, "",
		},
		"has an annotation as it is by now": {
			historytest.Begin().Start().Add(historytest.NodeClaim("c").Annotate("note", "x")).
				Change(demanding("b").Annotate("note", "y")).Add(joining()).Change(registered().Annotate("note", "y")),
			check.Holds, "",
		},
		"launched and registered in one go": {
			historytest.Begin().Add(historytest.NodeClaim("c"), joining()).Change(ownedByClaim(registered())).Add(claim),
			check.Holds, "",
		},
		"initialized": {
			begin().Add(joining()).Change(registered().Ready()).Change(started().Ready()).Change(initialized(started().Ready())),
			check.Holds, "",
		},
		"initialized with a startup taint": {
			begin().Add(joining()).Change(registered().Ready()).Change(initialized(registered().Ready())), check.Broken,
			"has the startup taint starting:NoSchedule still",
		},
		"initialized and never ready": {
			begin().Add(joining()).Change(registered()).Change(started()).Change(initialized(started())), check.Broken,
			"never was ready",
		},
		"initialized, and not ready any more": {
			begin().Add(joining()).Change(registered().Ready()).Change(started()).Change(initialized(started())),
			check.Holds, "",
		},
		"initialized, and ready before": {
			historytest.Begin().Add(claim, registered()).Start().Change(initialized(registered())), check.Vacuous, "",
		},
		"a startup taint comes back": {
			begin().Add(joining()).Change(registered()).Change(started()).Change(registered()),
			check.Broken, "is back on node n",
		},
		"a taint goes": {
			begin().Add(joining()).Change(registered()).Change(started()).Change(started().Untaint("dedicated")), check.Broken,
			"loses the taint dedicated:NoSchedule, which NodeClaim c demands",
		},
		"a taint goes with a startup taint": {begin().Add(joining()).Change(registered()).
			Change(started().Untaint("dedicated")), check.Holds, ""},
		"another taint comes and goes": {begin().Add(joining()).Change(registered()).Change(registered().Taint("other")).
			Change(registered()), check.Holds, ""},
		"a label goes": {
			begin().Add(joining()).Change(registered()).
				Change(bare().Taint("dedicated").Taint("starting").Label(karpenter.RegisteredLabel, "true")),
			check.Broken, "node n loses labels that NodeClaim c demands: [a=b]",
		},
		"all labels go": {
			begin().Add(joining()).Change(registered()).Change(bare().Taint("dedicated").Taint("starting")), check.Broken,
			"demands: [a=b]",
		},
		"a label changes": {
			begin().Add(joining()).Change(registered()).Change(registered().Label("a", "c")), check.Broken,
			"demands: [a=b]",
		},
		"a label changes, as its NodeClaim's": {
			begin().Add(joining()).Change(registered()).Change(demanding("c")).Change(registered().Label("a", "c")),
			check.Holds, "",
		},
		"a label changes, then its NodeClaim's": {
			begin().Add(joining()).Change(registered()).Change(registered().Label("a", "c")).Change(demanding("c")),
			check.Broken, "demands: [a=b]",
		},
		"another label comes and goes": {begin().Add(joining()).Change(registered()).Change(registered().Label("x", "y")).
			Change(registered()), check.Holds, ""},
		"a label goes with the node": {
			begin().Add(joining()).Change(registered()).Change(registered().Deleting()).
				Change(registered().Label("a", "c").Deleting()), check.Holds, "",
		},
		"a label goes in a gap": {
			begin().Add(joining()).Change(registered()).Gap(karpenter.NodeClaims, "410").Change(registered().Label("a", "c")),
			check.Unknown, "gap",
		},
		"its provider takes a taint": {
			begin().Add(joining()).Change(own(registered())).Change(own(registered().Untaint("dedicated"))), check.Holds, "",
		},
		"never registered": {begin().Add(joining()).Change(joining().Ready()), check.Vacuous, "no node was registered"},
		"registered before": {
			historytest.Begin().Add(claim, registered()).Start().Change(registered()),
			check.Vacuous, "",
		},
		"another cluster's node": {begin().Add(bare()).Change(bare().Ready()), check.Vacuous, ""},
		"a gap": {
			begin().Add(joining()).Gap(karpenter.Nodes, "410").Change(started()),
			check.Unknown, "gap",
		},
	})
}

// own returns a node with taints from its provider, not from its NodeClaim.
func own(node *historytest.Thing) *historytest.Thing {
	return node.Label(karpenter.DoNotSyncTaintsLabel, "true")
}

func initialized(node *historytest.Thing) *historytest.Thing {
	return node.Label(karpenter.InitializedLabel, "true")
}

func ownedByClaim(node *historytest.Thing) *historytest.Thing {
	return node.Set([]any{map[string]any{"kind": "NodeClaim", "name": "c"}}, "metadata", "ownerReferences")
}
