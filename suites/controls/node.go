package controls

import (
	"context"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
	"github.com/plumbline-e2e/plumbline/fixtures"
	"github.com/plumbline-e2e/plumbline/providers"
)

// A drifted node that somebody has annotated with do-not-disrupt stays, while one
// of another pool goes, until the annotation is removed: it is how a person keeps
// a machine that they are looking into.
//
// Source: annotation karpenter.sh/do-not-disrupt;
// https://karpenter.sh/docs/concepts/disruption, "Node-Level Controls".
var _ = Suite.Add(e2e.Spec{
	Name:  "keep a drifted node while it has the annotation do-not-disrupt",
	Needs: []providers.Capability{providers.NodePools},
	Run: func(ctx context.Context, env *e2e.Env) {
		guarded, free := fixtures.NodePool(), fixtures.NodePool()
		staying, leaving := fixtures.Deployment(1).On(guarded), fixtures.Deployment(1).On(free)
		protected := node(ctx, env, guarded, staying)
		node(ctx, env, free, leaving)
		env.Patch(ctx, karpenter.Nodes, "", protected.Name, protectedNode)

		before, old := env.Now(), env.World()
		env.Change(ctx, guarded.NewTemplate())
		env.Await(ctx, 1, check.DriftedClaims(guarded))
		env.Change(ctx, free.NewTemplate())
		env.Await(ctx, 1, check.RunningPods(leaving).On(check.ReplacedNodes(free, old)))
		env.Await(ctx, 0, check.Nodes(free).Old(old))
		env.Expect(env.Since(before), held(guarded), drifting(free))

		env.Patch(ctx, karpenter.Nodes, "", protected.Name, unprotectedNode)
		env.Await(ctx, 1, check.RunningPods(staying).On(check.ReplacedNodes(guarded, old)))
	},
})
