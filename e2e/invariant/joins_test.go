package invariant

import (
	"testing"
	"time"

	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/e2e/history/historytest"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
)

func TestJoinsByID(t *testing.T) {
	made := func() *historytest.Thing {
		return historytest.NodeClaim("c").Pool("p").Set(at(0), "metadata", "creationTimestamp")
	}
	launched := func() *historytest.Thing {
		return made().Set("sim:///i-1", "status", "providerID").True(karpenter.Launched)
	}
	node := func(name, id string) *historytest.Thing {
		return historytest.Node(name).Pool("p").Set(at(0), "metadata", "creationTimestamp").
			Taint(karpenter.UnregisteredTaint).Set(id, "spec", "providerID")
	}
	launch := func() *historytest.Story { return historytest.Begin().Add(made()).Change(launched()) }
	later := func(s *historytest.Story) *historytest.Story { // something happens long after
		return s.After(2 * time.Minute).Add(historytest.Node("x"))
	}
	judgeEach(t, joinsByID(), map[string]outcome{
		"by its ID": {launch().Add(node("n", "sim:///i-1")), check.Holds, ""},
		"before its NodeClaim knows it": {
			later(historytest.Begin().Add(made()).Add(node("n", "sim:///i-1")).Change(launched())), check.Holds, "",
		},
		"in another letter case": {
			launch().Add(node("n", "sim:///I-1")), check.Broken,
			`node n joined as "sim:///I-1", and NodeClaim c is "sim:///i-1": the provider IDs differ by letter case only`,
		},
		"in another letter case, and known later": {
			historytest.Begin().Add(made()).Add(node("n", "sim:///I-1")).Change(launched()), check.Broken, "by letter case only",
		},
		"by another ID": {
			later(launch().Add(node("n", "i-1"))), check.Broken,
			`node n joined as "i-1", which is no NodeClaim's provider ID, and NodeClaim c has waited for "sim:///i-1", for longer`,
		},
		"by no ID": {later(launch().Add(node("n", ""))), check.Broken, `node n joined as ""`},
		"too early to say": {
			launch().Add(node("n", "i-1")).After(30 * time.Second).Add(historytest.Node("x")), check.Holds, "",
		},
		"an ID that comes": {
			later(launch().Add(node("n", "")).After(time.Second).Change(node("n", "sim:///i-1"))), check.Holds, "",
		},
		"given up":             {later(launch().Add(node("n", "i-1")).Change(launched().Deleting())), check.Holds, ""},
		"gone":                 {later(launch().Add(node("n", "i-1")).Delete(launched())), check.Holds, ""},
		"the node goes":        {later(launch().Add(node("n", "i-1")).Delete(node("n", "i-1"))), check.Holds, ""},
		"beside a leaked node": {later(launch().Add(node("n", "i-1")).Add(node("m", "sim:///i-1"))), check.Holds, ""},
		"a leaked node":        {later(historytest.Begin().Add(node("n", "i-1"))), check.Vacuous, "no node joined"},
		"there from the start": {
			historytest.Begin().Add(launched(), node("n", "sim:///i-1")).Start(), check.Vacuous, "",
		},
		"an older node": {
			later(historytest.Begin().Add(node("n", "i-1").Set(at(-time.Minute), "metadata", "creationTimestamp")).
				Start().Add(made()).Change(launched())), check.Vacuous, "",
		},
		"never joins": {later(launch()), check.Vacuous, ""},
		"not launched": {
			later(historytest.Begin().Add(made()).Add(node("n", "i-1"))), check.Vacuous, "",
		},
		"its node went": {
			later(launch().Add(node("n", "sim:///i-1")).Change(launched().True(karpenter.Registered)).
				Delete(node("n", "sim:///i-1")).Add(node("m", "i-2"))), check.Holds, "",
		},
		"somebody else's node": {
			later(launch().Add(historytest.Node("y").Set("SIM:///i-1", "spec", "providerID"))), check.Vacuous, "",
		},
		"a gap": {later(launch().Add(node("n", "i-1")).Gap(karpenter.NodeClaims, "410")), check.Unknown, "gap"},
		"a gap, and the letter case": {
			launch().Gap(karpenter.NodeClaims, "410").Add(node("n", "sim:///I-1")), check.Broken, "letter case",
		},
	})
}
