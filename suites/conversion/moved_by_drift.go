package conversion

import (
	"context"
	"time"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/check"
)

// When a v1beta1 pool's template gets a taint, written as v1beta1, its nodes drift, and its pods move
// to the pool's v1 successor. Each node stays until a replacement is ready. So users roll to v1
// without touching a node.
//
// Source: designs/v1beta1-api.md of Karpenter v0.32, "Periodic Rolling with Drift".
var _ = Suite.Add(e2e.Spec{
	Name:   "moves pods to a v1 successor when a v1beta1 pool's template is tainted",
	Within: 3 * time.Minute,
	Run: func(ctx context.Context, env *e2e.Env) {
		app, from, to := fleet()
		env.Launch(ctx, pods, from, app)
		env.Create(ctx, to)

		before := env.Mark()
		env.Change(ctx, from.Write("spec.template.spec.taints", "[{key: example.com/legacy, effect: NoSchedule}]"))
		env.Await(ctx, pods, check.RunningPods(app).On(check.ReadyNodes(to)))
		env.Await(ctx, 0, check.NodeClaims(from))

		drifted := check.AtLeast(1, check.DriftedNodeClaims(from))
		env.Expect(env.Since(before),
			check.LeadsTo(drifted, movesAll(app, from, to)),
			check.While(check.Nodes(from).Deleting(), check.AtLeast(1, check.ReadyNodes(to))),
			check.Always(check.When(drifted, check.None(check.NodeClaims(from).New(before)))))
	},
})
