package cloud

import (
	"context"
	"time"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/fixtures"
	"github.com/plumbline-e2e/plumbline/providers"
)

// Karpenter replaces an instance that the cloud ends without notice. It removes the node
// and the NodeClaim, although nobody deleted them. The pod runs again on another node. A
// node without an instance is capacity that does not exist.
//
// Source: pkg/controllers/nodeclaim/garbagecollection, which looks every two minutes;
// https://karpenter.sh/docs/concepts/disruption, "Interruption", on instances that
// terminate.
var _ = Suite.Add(e2e.Spec{
	Name:   "removes a node whose instance the cloud has ended, and gives its pod another",
	Hooks:  []providers.HookName{providers.TerminateInstance},
	Within: 6 * time.Minute,
	Breaks: endedByCloud,
	Run: func(ctx context.Context, env *e2e.Env) {
		pool := fixtures.NodePool()
		app := fixtures.Deployment(1).On(pool)
		node := env.Launch(ctx, 1, pool, app)[0]

		before := env.Mark()
		env.Hook(ctx, providers.TerminateInstance, e2e.About(node))
		env.Await(ctx, 0, check.Nodes(pool).Old(before))
		env.Await(ctx, 0, check.NodeClaims(pool).Old(before))
		env.Await(ctx, 1, check.RunningPods(app).On(check.ReplacedNodes(pool, before)))

		env.Expect(env.Since(before),
			check.Always(check.AtMost(1, check.NodeClaims(pool).New(before))),
			check.LeadsTo(check.AtLeast(1, check.NodeClaims(pool).Deleting()), check.None(check.NodeClaims(pool).Old(before))),
			check.LeadsTo(check.None(check.Nodes(pool).Old(before)), check.Exactly(1, check.RunningPods(app))))
	},
})

// endedByCloud is what a spec breaks whose instance the cloud ends.
var endedByCloud = []e2e.Breach{{
	Invariant: "instances end before their nodes and NodeClaims do",
	Why:       "the instance ends behind Karpenter's back, and its node may with it",
}}
