package invariant

import (
	"fmt"
	"testing"
	"time"

	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/e2e/history/historytest"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
)

func poolWithBudget(nodes string, reasons ...any) *historytest.Thing {
	b := map[string]any{"nodes": nodes}
	if len(reasons) > 0 {
		b["reasons"] = reasons
	}
	return historytest.Pool("p").Set([]any{b}, "spec", "disruption", "budgets")
}

func member(i int) *historytest.Thing {
	return historytest.Node(fmt.Sprint("n", i)).Pool("p").Set(fmt.Sprint("id", i), "spec", "providerID").
		Label(karpenter.InitializedLabel, "true").Ready()
}

func itsClaim(i int) *historytest.Thing {
	return historytest.NodeClaim(fmt.Sprint("c", i)).Pool("p").Set(fmt.Sprint("id", i), "status", "providerID").
		On(fmt.Sprint("n", i))
}

func withReason(claim *historytest.Thing, reason string) *historytest.Thing {
	return claim.Set([]any{map[string]any{"type": karpenter.DisruptionReason, "status": "True", "reason": reason}},
		"status", "conditions")
}

func TestDisruptionBudgetsHold(t *testing.T) {
	marked := func(i int) *historytest.Thing { return member(i).Taint(karpenter.DisruptedTaint) }
	// of returns a story of a pool with four nodes.
	of := func(pool *historytest.Thing) *historytest.Story {
		s := historytest.Begin().Add(pool)
		for i := range 4 {
			s.Add(member(i), itsClaim(i))
		}
		return s.Start().After(time.Minute)
	}
	bare := func(i int) *historytest.Thing {
		return member(i).Set(nil, "metadata", "labels", karpenter.InitializedLabel)
	}
	one, half := poolWithBudget("1"), poolWithBudget("30%") // 30 % of four are two
	begun := historytest.Begin().Add(one)
	for i := range 4 {
		begun.Add(bare(i), itsClaim(i)).Change(member(i))
	}

	judgeEach(t, disruptionBudgetsHold(), map[string]outcome{
		"one at a time": {of(one).Change(marked(0)).Change(itsClaim(0).Deleting()).
			Change(itsClaim(0).Deleting().True(karpenter.InstanceTerminating)).Change(marked(1)), check.Holds, ""},
		"two where one may": {
			of(one).Change(marked(0), marked(1)), check.Broken,
			"with it 2 of 4 nodes are out of use, where the budgets allow 1",
		},
		"two for a moment": {of(one).Change(marked(0), marked(1), member(1)), check.Broken, "2 of 4"},
		"one, while another is deleted": {
			of(one).Change(marked(0)).Change(itsClaim(0).Deleting()).Change(marked(1)),
			check.Broken, "2 of 4",
		},
		"one after it was given up": {of(one).Change(marked(0), member(0), marked(1)), check.Holds, ""},
		"a percentage rounds up":    {of(half).Change(marked(0), marked(1)), check.Holds, ""},
		"and no further": {
			of(half).Change(marked(0), marked(1), marked(2)), check.Broken,
			"3 of 4 nodes are out of use, where the budgets allow 2",
		},
		"one is not ready": {of(one).Change(member(0).False(karpenter.Ready)).After(time.Minute).
			Change(marked(1)).Change(withReason(itsClaim(1), drifted)), check.Broken, "2 of 4"},
		"one has just become not ready": {of(one).Change(member(0).False(karpenter.Ready)).After(time.Second).
			Change(marked(1)), check.Holds, ""},
		"repair of one that is not ready": {of(one).Change(member(0).False(karpenter.Ready)).After(time.Minute).
			Change(marked(1)).Change(withReason(itsClaim(1), unhealthy)), check.Holds, ""},
		"one expires": {
			of(one).Change(itsClaim(0).Deleting()).After(time.Minute).Change(marked(1)),
			check.Broken, "2 of 4",
		},
		"two expire": {of(one).Change(itsClaim(0).Deleting(), itsClaim(1).Deleting(), marked(0).Deleting(),
			marked(1).Deleting()), check.Vacuous, ""},
		"one isn't initialized": {of(one).Change(member(0).Set("", "metadata", "labels", karpenter.InitializedLabel)).
			After(time.Minute).Change(marked(1)), check.Holds, ""},
		"the reason says otherwise": {of(poolWithBudget("0", drifted)).Change(marked(0)).
			Change(withReason(itsClaim(0), drifted)), check.Broken, "is disrupted as Drifted"},
		"another reason": {of(poolWithBudget("0", drifted)).Change(marked(0)).
			Change(withReason(itsClaim(0), empty)), check.Holds, ""},
		"chosen without a taint": {
			of(poolWithBudget("0")).Change(withReason(itsClaim(0), empty)),
			check.Broken, "1 of 4",
		},
		"the budget has just changed": {
			of(one).Change(poolWithBudget("0")).After(time.Second).Change(marked(0)),
			check.Holds, "",
		},
		"the budget has changed": {
			of(one).Change(poolWithBudget("0")).After(time.Minute).Change(marked(0)),
			check.Broken, "1 of 4",
		},
		"the first budget has just come": {historytest.Begin().Add(historytest.Pool("p")).After(time.Minute).
			Change(poolWithBudget("0")).Add(member(0), itsClaim(0)).Change(marked(0)), check.Holds, ""},
		"initialized a moment ago": {
			begun.Change(marked(0), marked(1)), check.Broken,
			"with it 2 of 4 nodes are out of use, where the budgets allow 1",
		},
		"another pool's": {of(one).Add(historytest.Node("x").Pool("q").Label(karpenter.InitializedLabel, "true").
			Taint(karpenter.DisruptedTaint)).Change(marked(0)), check.Holds, ""},
		"nothing disrupted": {of(one).Change(member(0)), check.Vacuous, "no disruption began"},
		"no budget":         {of(historytest.Pool("p")).Change(marked(0), marked(1)), check.Vacuous, ""},
		"a gap":             {of(one).Gap(karpenter.Nodes, "410").Change(marked(0), marked(1)), check.Unknown, "gap"},
	})
}
