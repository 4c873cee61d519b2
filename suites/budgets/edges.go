package budgets

import (
	"context"
	"time"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/e2e/history"
	"github.com/plumbline-e2e/plumbline/fixtures"
)

// A budget with a schedule applies from the minute its window opens to the minute it
// closes. Outside, it forbids nothing. Here one window opens and another closes at the
// same minute, one or two minutes ahead. One pool drifts only before it, the other only
// after it.
//
// Source: designs/disruption-controls.md; spec.disruption.budgets[].schedule
// (cron, in UTC) and .duration.
var _ = Suite.Add(e2e.Spec{
	Name:   "with a schedule hold from its start to the end of its duration",
	Within: 4 * time.Minute,
	Run: func(ctx context.Context, env *e2e.Env) {
		opening, closing := fixtures.NodePool(), fixtures.NodePool()
		early, late := fixtures.Deployment(1).On(opening), fixtures.Deployment(1).On(closing)
		env.Create(ctx, opening, closing, early, late)
		pod := env.Await(ctx, 1, check.RunningPods(early))[0].Unstructured()
		env.Await(ctx, 1, check.RunningPods(late))
		edge := pod.GetCreationTimestamp().Truncate(time.Minute).Add(2 * time.Minute) // by the cluster's clock

		before := env.Mark()
		opening.BudgetDuring(fixtures.WindowFrom(edge), "0")
		closing.BudgetDuring(fixtures.WindowUntil(edge), "0")
		env.Change(ctx, opening.NewTemplate(), closing.NewTemplate())
		env.Await(ctx, 0, check.Nodes(opening).Old(before))
		env.Await(ctx, 0, check.Nodes(closing).Old(before))
		env.Change(ctx, opening.NewTemplate())
		env.Await(ctx, 1, check.DriftedNodeClaims(opening))
		env.Observe(ctx, pressed)

		env.Expect(env.Since(before),
			check.Whenever(check.Enters(check.DisruptedNodes(opening)), "it is before the edge",
				check.ForAny(check.Untrue(isPast(edge)))),
			check.Whenever(check.Enters(check.DisruptedNodes(closing)), "it is after the edge", check.ForAny(isPast(edge))),
			check.Always(check.When(check.AllOf(isPast(edge), check.AtLeast(1, check.DriftedNodeClaims(opening))),
				check.None(check.DisruptedNodes(opening)))))
	},
})

// isPast claims that a time is past.
func isPast(t time.Time) check.Claim {
	words := "it is past " + t.UTC().Format(time.TimeOnly)
	return check.That(words, func(w *history.World) (ok, exercised bool, standing string) {
		return !w.Time().Before(t), true, "it is " + w.Time().UTC().Format(time.TimeOnly)
	})
}
