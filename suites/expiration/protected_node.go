package expiration

import (
	"context"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
	"github.com/plumbline-e2e/plumbline/fixtures"
)

// A node that must not be disrupted expires too. The annotation is for the owners of its
// pods. It must not outweigh expireAfter, because administrators rely on it to limit the
// age of nodes.
//
// Source: designs/forceful-expiration.md, "bypassing NDBs and do-not-disrupt";
// annotation karpenter.sh/do-not-disrupt.
var _ = Suite.Add(e2e.Spec{
	Name: "comes to a node although it must not be disrupted",
	Run: func(ctx context.Context, env *e2e.Env) {
		pool := fixtures.NodePool().ExpireAfter(ttl.String())
		app := fixtures.Deployment(1).On(pool)
		env.Create(ctx, pool, app)
		pod := env.Await(ctx, 1, check.RunningPods(app))[0]

		before := env.Mark()
		env.Annotate(ctx, fixtures.Node(karpenter.PodNode(pod.Unstructured())), karpenter.DoNotDisruptAnnotation, "true")
		env.Observe(ctx, ttl+late)

		protected := check.Nodes(pool).With("that must not be disrupted",
			check.Annotated(karpenter.DoNotDisruptAnnotation, "true"))
		env.Expect(env.Since(before), expires(pool),
			check.LeadsTo(check.AtLeast(1, protected), check.AtLeast(1, protected.Deleting())),
			check.LeadsTo(check.AtLeast(1, protected), check.None(check.Nodes(pool).Old(before))))
	},
})
