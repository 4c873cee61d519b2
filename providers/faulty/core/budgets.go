package core

import (
	"slices"
	"strings"

	v1 "sigs.k8s.io/karpenter/pkg/apis/v1"

	"github.com/plumbline-e2e/plumbline/providers/faulty/lie"
)

// budgetLies returns the lies about how many nodes may be disrupted at a time.
func budgetLies() map[string]lie.Lie {
	return map[string]lie.Lie{
		"ignores-budgets":          paces(func([]v1.Budget) []v1.Budget { return nil }),
		"takes-zero-for-unlimited": paces(without(func(b v1.Budget) bool { return b.Nodes == "0" })),
		"takes-the-last-budget": paces(func(all []v1.Budget) []v1.Budget {
			return all[max(len(all)-1, 0):]
		}),
		"takes-percents-for-nodes":       paces(each(func(b *v1.Budget) { b.Nodes = strings.TrimSuffix(b.Nodes, "%") })),
		"ignores-budgets-with-reasons":   paces(without(func(b v1.Budget) bool { return b.Reasons != nil })),
		"ignores-budgets-with-schedules": paces(without(func(b v1.Budget) bool { return b.Schedule != nil })),
		"removes-empty-nodes-beyond-budgets": paces(each(func(b *v1.Budget) {
			if b.Reasons == nil {
				b.Reasons = []v1.DisruptionReason{v1.DisruptionReasonDrifted, v1.DisruptionReasonUnderutilized}
			}
		})),
	}
}

// paces returns the lie that disruption is paced by other budgets than a pool has.
func paces(by func([]v1.Budget) []v1.Budget) lie.Lie {
	return reads(func(pool *v1.NodePool) {
		pool.Spec.Disruption.Budgets = by(pool.Spec.Disruption.Budgets)
	}, disrupting)
}

// without leaves out some budgets.
func without(some func(v1.Budget) bool) func([]v1.Budget) []v1.Budget {
	return func(all []v1.Budget) []v1.Budget { return slices.DeleteFunc(all, some) }
}

// each changes every budget.
func each(change func(*v1.Budget)) func([]v1.Budget) []v1.Budget {
	return func(all []v1.Budget) []v1.Budget {
		for i := range all {
			change(&all[i])
		}
		return all
	}
}
