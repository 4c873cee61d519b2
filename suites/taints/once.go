package taints

import (
	"context"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
	"github.com/plumbline-e2e/plumbline/fixtures"
)

// Karpenter doesn't restore a startup taint that its owner removed, even while another
// taint delays initialization. Otherwise two agents that prepare a node would wait for
// each other forever.
//
// Source: spec.template.spec.startupTaints of the NodePool API: "taints that are
// applied to nodes upon startup which are expected to be removed automatically";
// https://github.com/kubernetes-sigs/karpenter/issues/1772.
var _ = Suite.Add(e2e.Spec{
	Name: "of startup are added to a node only once",
	Run: func(ctx context.Context, env *e2e.Env) {
		first, second := fixtures.Key("first"), fixtures.Key("second")
		pool := fixtures.NodePool().StartupTaint(first, fixtures.NoSchedule).StartupTaint(second, fixtures.NoSchedule)
		app := fixtures.Deployment(1).On(pool)
		env.Create(ctx, pool, app)
		both := check.ReadyNodes(pool).With("with the first taint", check.Tainted(first))
		node := env.Await(ctx, 1, both.With("and the second", check.Tainted(second)))[0]

		env.RemoveTaint(ctx, first, node)
		half := env.Await(ctx, 1,
			check.Nodes(pool).With("with the second taint", check.TaintedWith(second, fixtures.NoSchedule)).With("alone",
				check.Tainted(first).Not()))[0]
		removed := env.Mark()
		env.Observe(ctx, karpenter.Settled)
		waiting := env.Since(removed)
		env.RemoveTaint(ctx, second, half)
		env.Await(ctx, 1, check.RunningPods(app))
		env.Await(ctx, 1, check.InitializedNodes(pool))

		env.Expect(waiting, check.Always(check.None(check.InitializedNodes(pool))),
			check.Always(check.Each(check.Nodes(pool), "have the second taint", check.Tainted(second))))
		env.Expect(env.Since(removed),
			check.Always(check.Each(check.Nodes(pool), "don't have the first", check.Tainted(first).Not())))
	},
})
