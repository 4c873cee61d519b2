package buffer

import (
	"context"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/fixtures"
)

// A buffer is no larger than each of its fields allows. A share of no pods is none, however much its
// limits allow: a workload that sleeps at night has no bursts. Of a number and a share, the smaller one
// counts.
//
// Source: spec.replicas ("If both are set, the minimum of the two will be used") and spec.limits ("If there
// are no other limitations", "used to create as many chunks as fit") of the CapacityBuffer API;
// designs/capacity-buffers.md, "When both `replicas` and `percentage` are specified, use minimum".
var _ = e2e.Table(Suite, map[string]sizes{
	"sleeping": {
		what: "a share of no pods, whatever its limits are", pods: 0, buffers: 0,
		size:   func(b *fixtures.Buffer) *fixtures.Buffer { return b.Percentage(50).Limit("cpu", "2") },
		reason: "a percentage of no replicas is taken for no percentage, and the limits alone count",
	},
	"number": {
		what: "its share, if it asks for a larger number too", pods: 2, buffers: 1,
		size:   func(b *fixtures.Buffer) *fixtures.Buffer { return b.Percentage(50).Pods(3) },
		reason: "of replicas and percentage, the maximum is used",
	},
}, func(row sizes) e2e.Spec {
	return e2e.Spec{
		Name: "is no larger than " + row.what,
		Known: append([]e2e.Known{{
			Releases: ">=1.14.0 <=1.15.0", // seen in v1.14.3 and v1.15.0
			Issue:    e2e.Finding("karpenter-buffers-that-are-too-large"),
			Reason:   row.reason,
			Breaks:   []string{"^always at most "},
		}}, sharedNode...),
		Run: func(ctx context.Context, env *e2e.Env) {
			pool := fixtures.NodePool()
			app := fixtures.Deployment(row.pods).CPU("1").OnePodPerNode().On(pool)
			env.Create(ctx, pool, app)
			env.Await(ctx, row.pods, check.RunningPods(app))

			buffer := row.size(fixtures.CapacityBuffer(app))

			before := env.Mark()
			env.Create(ctx, buffer)
			env.Observe(ctx, filled)

			env.Expect(env.Since(before), check.Always(check.When(check.AtLeast(1, check.The(buffer)),
				check.AtMost(row.pods+row.buffers, check.NodeClaims(pool)))))
		},
	}
})

// sizes are the pods of a workload, and how many more its buffer is for.
type sizes struct {
	what          string
	pods, buffers int
	size          func(*fixtures.Buffer) *fixtures.Buffer
	reason        string
}
