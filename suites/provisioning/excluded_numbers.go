package provisioning

import (
	"context"
	"strconv"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
	"github.com/plumbline-e2e/plumbline/fixtures"
)

// Pods get nodes with a number as a label's value that lies in their range, and is none of those that
// they exclude. The NodePool leaves the value open, so Karpenter chooses it, and the pods can't run on
// nodes with a wrong one. If they exclude all numbers of the range, nothing is launched.
//
// Source: https://karpenter.sh/docs/concepts/scheduling, "User-Defined Labels"; operators Gt, Lt and
// NotIn of the Pod API.
var _ = e2e.Table(Suite, map[string]excludedNumbers{
	"some": {"numbers other than those that pods exclude", 3, "101", numbers(1, 99)},
	"all":  {"no number if pods exclude them all", 0, "3", numbers(1, 2)},
}, func(row excludedNumbers) e2e.Spec {
	return e2e.Spec{
		Name: "chooses " + row.what + " as a label's value",
		Known: []e2e.Known{{
			Releases: ">=1.0.0 <=1.15.0", // seen in v1.14.3 and v1.15.0; the source is the same in v1.0.8
			Issue:    e2e.Finding("karpenter-numbers-that-pods-exclude"),
			Reason:   "the number that is chosen for a label may be one that the pod excludes",
			Breaks: []string{
				"^waited for 3 pods", "^always at most 0 NodeClaims", "launched nodes take pods that they were launched for",
				"Karpenter comes to rest when nothing changes",
			},
			Explored: `(?s)/size\n +operator: Gt.{1,400}/size\n +operator: NotIn`,
		}},
		Run: func(ctx context.Context, env *e2e.Env) {
			pool := fixtures.NodePool().Require(size, fixtures.Exists).Limit("cpu", "8")
			app := fixtures.Deployment(3).CPU("1").On(pool).OnePodPerNode().Require(size, fixtures.Gt, "0").
				AndRequire(size, fixtures.Lt, row.below).AndRequire(size, fixtures.NotIn, row.excluded...)

			before := env.Mark()
			env.Create(ctx, pool, app)
			env.Await(ctx, row.fit, check.RunningPods(app))
			env.Observe(ctx, karpenter.PodsRetried)

			env.Expect(env.Since(before),
				check.Always(check.When(check.AtLeast(1, check.PodsOf(app)), check.AtMost(row.fit, check.NodeClaims(pool)))))
		},
	}
})

// excludedNumbers are those that three pods exclude from the numbers below a bound, and how many of the
// pods fit nodes then.
type excludedNumbers struct {
	what     string
	fit      int
	below    string
	excluded []string
}

// numbers returns the numbers from first to last.
func numbers(first, last int) (all []string) {
	for n := first; n <= last; n++ {
		all = append(all, strconv.Itoa(n))
	}
	return all
}
