package core

import (
	"context"
	"slices"
	"strings"
	"sync"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
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
		"disrupts-one-at-a-time": paces(func(all []v1.Budget) []v1.Budget {
			return append(all, v1.Budget{Nodes: "1"})
		}),
		"remembers-old-budgets": remembersBudgets(),
		"shares-budgets":        sharesBudgets(),
		"takes-unready-nodes-for-ready": reads(func(node *corev1.Node) {
			for i := range node.Status.Conditions {
				node.Status.Conditions[i].Status = corev1.ConditionTrue
			}
		}, rememberingNodes),
		"counts-nodes-that-start": reads(func(node *corev1.Node) {
			if node.Labels[v1.NodeRegisteredLabelKey] == "true" {
				node.Labels[v1.NodeInitializedLabelKey] = "true"
			}
		}, rememberingNodes),
		"overlooks-deletions": reads(func(o client.Object) { o.SetDeletionTimestamp(nil) }, remembering, rememberingNodes),
		"removes-empty-nodes-beyond-budgets": paces(each(func(b *v1.Budget) {
			if b.Reasons == nil {
				b.Reasons = []v1.DisruptionReason{v1.DisruptionReasonDrifted, v1.DisruptionReasonUnderutilized}
			}
		})),
	}
}

// remembersBudgets returns a lie: a pool keeps the first budgets that core has read.
func remembersBudgets() lie.Lie {
	var first sync.Map
	return reads(func(pool *v1.NodePool) {
		budgets, _ := first.LoadOrStore(pool.UID, slices.Clone(pool.Spec.Disruption.Budgets))
		pool.Spec.Disruption.Budgets = slices.Clone(budgets.([]v1.Budget))
	}, disrupting)
}

// sharesBudgets returns a lie: the budgets of each pool apply to all pools.
func sharesBudgets() lie.Lie {
	return deceives(interceptor.Funcs{
		List: func(ctx context.Context, c client.WithWatch, list client.ObjectList, opts ...client.ListOption) error {
			err := c.List(ctx, list, append(slices.Clone(opts), copied)...)
			if pools, ok := list.(*v1.NodePoolList); ok && told(ctx, disrupting) {
				var all []v1.Budget
				for i := range pools.Items {
					all = append(all, pools.Items[i].Spec.Disruption.Budgets...)
				}
				for i := range pools.Items {
					pools.Items[i].Spec.Disruption.Budgets = all
				}
			}
			return err
		},
	})
}

// paces returns a lie that changes the budgets of a pool.
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
