package invariant

import (
	"testing"
	"time"

	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/e2e/history/historytest"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
)

func TestMatchesRequest(t *testing.T) {
	const zone = "topology.kubernetes.io/zone"
	type object = map[string]any
	requires := func(operator string, values ...any) *historytest.Thing {
		return historytest.NodeClaim("c").Set("id", "status", "providerID").
			Set([]any{object{"key": zone, "operator": operator, "values": values}}, "spec", "requirements")
	}
	requests := func(cpu string) *historytest.Thing {
		return historytest.NodeClaim("c").Set("id", "status", "providerID").
			Set(object{"cpu": cpu}, "spec", "resources", "requests")
	}
	node := func() *historytest.Thing { return historytest.Node("n").Set("id", "spec", "providerID") }
	in := func(name string) *historytest.Thing { return node().Label(zone, name) }
	// registered returns a story of a node that joins for a NodeClaim.
	registered := func(claim, node *historytest.Thing) *historytest.Story {
		return historytest.Begin().Add(claim, node).Change(node.Label(karpenter.RegisteredLabel, "true"))
	}
	initialized := func(claim *historytest.Thing, cpu string) *historytest.Story {
		return historytest.Begin().Add(claim, node()).
			Change(node().Label(karpenter.InitializedLabel, "true").Set(object{"cpu": cpu}, "status", "allocatable"))
	}
	launched := func(claim *historytest.Thing, cpu string) *historytest.Story {
		return historytest.Begin().Add(claim).
			Change(claim.Set(object{"cpu": cpu}, "status", "allocatable").True(karpenter.Launched))
	}
	// shaped returns a story of a NodeClaim that is initialized with other CPUs than it said.
	shaped := func(asked, said, has string) *historytest.Story {
		claim := func() *historytest.Thing { return requests(asked).Capacity("cpu", said) }
		return historytest.Begin().Add(claim(), node().Capacity("cpu", has)).Change(claim().True(karpenter.Initialized))
	}
	judgeEach(t, matchesRequest(), map[string]outcome{
		"in the zone": {registered(requires("In", "a", "b"), in("b")), check.Holds, ""},
		"in another": {
			registered(requires("In", "a", "b"), in("c")), check.Broken,
			"requires topology.kubernetes.io/zone In [a b], and on node n this label is c",
		},
		"in none":            {registered(requires("In", "a", "b"), node()), check.Broken, "this label is not there"},
		"in a forbidden one": {registered(requires("NotIn", "a"), in("a")), check.Broken, "NotIn [a]"},
		"not in that one":    {registered(requires("NotIn", "a"), in("b")), check.Holds, ""},
		"without one":        {registered(requires("DoesNotExist"), in("b")), check.Broken, "DoesNotExist"},
		"in some":            {registered(requires("Exists"), node()), check.Holds, ""},
		"large enough":       {registered(requires("Gt", "3"), in("4")), check.Holds, ""},
		"too small":          {registered(requires("Gt", "3"), in("3")), check.Broken, "Gt [3]"},
		"small enough":       {registered(requires("Lte", "3"), in("3")), check.Holds, ""},
		"room":               {launched(requests("2"), "2"), check.Holds, ""},
		"no room": {
			launched(requests("2"), "1900m"), check.Broken,
			"request 2 of cpu, and NodeClaim c has 1900m allocatable",
		},
		"room on the node":    {initialized(requests("2"), "4"), check.Holds, ""},
		"no room on the node": {initialized(requests("2"), "1"), check.Broken, "and Node n has 1 allocatable"},
		"nobody says how much": {
			historytest.Begin().Add(requests("2")).Change(requests("2").True(karpenter.Launched)),
			check.Vacuous, "",
		},
		"what was said": {shaped("2", "4", "4"), check.Holds, ""},
		"90 % of it":    {shaped("2", "4", "3600m"), check.Holds, ""},
		"less than 90 % of it": {
			shaped("2", "4", "3599m"), check.Broken,
			"says that its node has 4 of cpu, and node n has 3599m",
		},
		"a tenth of it": {
			shaped("2", "40", "4"), check.Broken,
			"says that its node has 40 of cpu, and node n has 4",
		},
		"more than was said":   {shaped("2", "2", "64"), check.Holds, ""},
		"nothing said":         {shaped("2", "0", "4"), check.Vacuous, ""},
		"of what nobody needs": {shaped("0", "40", "4"), check.Vacuous, ""},
		"no node": {historytest.Begin().Add(requests("2").Capacity("cpu", "4")).
			Change(requests("2").Capacity("cpu", "4").True(karpenter.Initialized)), check.Vacuous, ""},
		"a tenth, in a gap": {historytest.Begin().Gap(karpenter.Nodes, "410").Add(node().Capacity("cpu", "4"),
			requests("2").Capacity("cpu", "40").True(karpenter.Initialized)), check.Unknown, "gap"},
		"nothing asked": {
			registered(historytest.NodeClaim("c").Set("id", "status", "providerID"), node()),
			check.Vacuous, "nothing was launched or registered",
		},
		"another NodeClaim's": {
			registered(requires("In", "a"), node().Set("other", "spec", "providerID")),
			check.Vacuous, "",
		},
		"registered before": {registered(requires("In", "a"), in("b")).Start().
			Change(in("b").Label(karpenter.RegisteredLabel, "true")), check.Vacuous, ""},
		"a gap": {
			registered(requires("In", "a"), in("a")).Gap(karpenter.Nodes, "410"),
			check.Unknown, "gap",
		},
		"in another, in a gap": {historytest.Begin().Gap(karpenter.Nodes, "410").Add(requires("In", "a"), in("b")).
			Change(in("b").Label(karpenter.RegisteredLabel, "true")), check.Unknown, "gap"},
		"in another, then a gap": {
			registered(requires("In", "a"), in("b")).After(time.Second).Gap(karpenter.Nodes, "410"),
			check.Broken, "this label is b",
		},
	})
}
