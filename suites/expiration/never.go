package expiration

import (
	"context"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/fixtures"
)

// A node whose expireAfter is Never stays. Users run jobs of unknown length on such pools. Here another node
// expires meanwhile.
//
// Source: spec.template.spec.expireAfter of the NodePool API.
var _ = Suite.Add(e2e.Spec{
	Name: "never comes to nodes whose expireAfter is Never",
	Run: func(ctx context.Context, env *e2e.Env) {
		eternal, mortal := fixtures.NodePool().ExpireAfter("Never"), fixtures.NodePool().ExpireAfter(ttl.String())
		lasting, passing := fixtures.Deployment(1).On(eternal), fixtures.Deployment(1).On(mortal)
		env.Create(ctx, eternal, lasting)
		env.Await(ctx, 1, check.RunningPods(lasting))
		env.Create(ctx, mortal, passing)
		env.Await(ctx, 1, check.RunningPods(passing))

		before := env.Mark()
		env.Await(ctx, 1, check.RunningPods(passing).On(check.ReplacedNodes(mortal, before)))

		env.Expect(env.Since(before), expires(mortal),
			check.Always(check.None(check.DisruptedNodes(eternal))),
			check.While(check.PodsOf(lasting), check.Exactly(1, check.NodeClaims(eternal).Old(before))))
	},
})
