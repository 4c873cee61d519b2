package repair

import (
	"context"
	"time"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/fixtures"
)

// Karpenter replaces a node that stays unhealthy, but not before its toleration is over.
// A node that recovers by itself costs nothing. Nobody has to notice nodes that do not
// recover.
//
// Source: designs/node-repair.md; Karpenter's regression suite, "repairs an isolated
// unhealthy node".
var _ = Suite.Add(e2e.Spec{
	Name: "replaces a node that stays unhealthy, once its toleration is over",
	Run: func(ctx context.Context, env *e2e.Env) {
		pool := fixtures.NodePool()
		app := deployment(1, pool)
		nodes := env.Launch(ctx, 1, pool, app)

		before := env.Mark()
		env.MakeUnhealthy(ctx, nodes...)
		tolerated := env.Observe(ctx, env.Toleration()-slack)
		env.Await(ctx, 0, check.Nodes(pool).Old(before))
		env.Await(ctx, 1, check.RunningPods(app))

		env.Expect(tolerated, sparesAll(env, pool))
		env.Expect(env.Since(before), check.Within(env.Toleration()+soon, unhealthyNodesGo(env, pool)))
	},
})

// slack is the end of a toleration that is not watched, because its start is in whole seconds.
// soon bounds a replacement.
const (
	slack = 5 * time.Second
	soon  = 45 * time.Second
)
