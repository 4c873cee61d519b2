package invariant

import (
	"testing"

	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/e2e/history/historytest"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
)

func TestInstanceEndsFirst(t *testing.T) {
	const finalizer = karpenter.TerminationFinalizer
	claim := func() *historytest.Thing {
		return historytest.NodeClaim("c").Set("cloud://1", "status", "providerID").Finalizers(finalizer).Deleting()
	}
	node := func() *historytest.Thing {
		return historytest.Node("n").Set("cloud://1", "spec", "providerID").Finalizers(finalizer, "other/one").
			Ready().Deleting()
	}
	ended := func() *historytest.Thing { return claim().True(karpenter.InstanceTerminating) }
	tell := func() *historytest.Story { return historytest.Begin().Add(claim(), node()) }
	launching := historytest.NodeClaim("c").Finalizers(finalizer).Deleting()
	judgeEach(t, instanceEndsFirst(), map[string]outcome{
		"instance, node, claim": {tell().Change(ended()).Delete(node()).Delete(ended()), check.Holds, ""},
		"from the start":        {historytest.Begin().Add(ended(), node()).Start().Delete(node()), check.Holds, ""},
		"the node goes first": {
			tell().Delete(node()).Change(ended()), check.Broken,
			"node n lost the finalizer karpenter.sh/termination before",
		},
		"its finalizer goes first": {
			tell().Change(node().Finalizers("other/one")).Change(ended()), check.Broken,
			"node n lost the finalizer karpenter.sh/termination before",
		},
		"another finalizer goes": {tell().Change(node().Finalizers(finalizer)), check.Vacuous, ""},
		"the claim goes first": {
			tell().Delete(claim()), check.Broken,
			"NodeClaim c lost the finalizer karpenter.sh/termination before",
		},
		"a node that is not ready": {historytest.Begin().Add(claim(), node().False("Ready")).
			Delete(node().False("Ready")), check.Vacuous, ""},
		"a claim that was not launched": {
			historytest.Begin().Add(launching).Delete(launching), check.Vacuous,
			"no finalizer was removed",
		},
		"a node without a NodeClaim": {historytest.Begin().Add(node()).Delete(node()), check.Vacuous, ""},
		"a gap, and the node goes first": {historytest.Begin().Gap(karpenter.NodeClaims, "410").Add(claim(), node()).
			Delete(node()), check.Unknown, "gap"},
		"a gap in the end": {
			tell().Change(ended()).Delete(node()).Gap(karpenter.Nodes, "410"),
			check.Unknown, "gap",
		},
	})
}
