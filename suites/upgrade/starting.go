package upgrade

import (
	"context"
	"time"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/fixtures"
)

// starting is a way to keep nodes from being ready for work until release is called.
type starting struct {
	name string
	hold func(context.Context, *e2e.Env, *fixtures.Pool) (release func())
	held func(*fixtures.Pool) check.Count
}

// held is a label of nodes that can't be registered, and a startup taint that stays.
const held = fixtures.Domain + "/held"

// A new release knows the nodes that the old one has launched and that aren't ready for work yet. It
// launches no more nodes for their pods, and loses none of them. Fleets scale while they are
// upgraded, and each node that is launched twice costs money until somebody notices. A node for
// another pool shows that the new controller launches.
//
// Source: https://karpenter.sh/docs/concepts/nodeclaims: a NodeClaim is the record of a launch;
// spec.template.spec.startupTaints of the NodePool API.
var _ = e2e.Table(Suite, map[string]starting{
	"uninitialized": {"launches nothing twice for nodes that aren't initialized", uninitialized, startingNodes},
	"unregistered":  {"launches nothing twice for nodes that aren't registered", unregistered, launchedNodes},
}, func(s starting) e2e.Spec {
	return e2e.Spec{
		Name:   s.name,
		Within: 6 * time.Minute,
		Run: func(ctx context.Context, env *e2e.Env) {
			pool, other := fixtures.NodePool(), fixtures.NodePool()
			app, late := fixtures.Deployment(2).OnePodPerNode().On(pool), fixtures.Deployment(1).On(other)
			release := s.hold(ctx, env, pool)
			env.Create(ctx, pool, other, app)
			env.Await(ctx, 2, s.held(pool))

			before := env.Mark()
			env.Upgrade(ctx)
			env.Observe(ctx, takenOver)
			env.Create(ctx, late)
			env.Await(ctx, 1, check.RunningPods(late))
			release()
			env.Await(ctx, 2, check.RunningPods(app))
			env.Await(ctx, 2, check.InitializedNodes(pool))

			env.Expect(env.Since(before),
				check.Always(check.Exactly(2, check.NodeClaims(pool).Old(before))),
				check.Always(check.None(check.NodeClaims(pool).New(before))),
				check.Finally(check.Exactly(2, check.Nodes(pool))))
		},
	}
})

func startingNodes(pool *fixtures.Pool) check.Count { return check.StartingNodes(pool, held) }

// launchedNodes counts the nodes that have joined, registered or not.
func launchedNodes(pool *fixtures.Pool) check.Count { return check.JoinedNodes(pool) }

func uninitialized(ctx context.Context, env *e2e.Env, pool *fixtures.Pool) (release func()) {
	pool.StartupTaint(held, fixtures.NoSchedule)
	return func() { env.RemoveTaint(ctx, held, env.Await(ctx, 2, check.StartingNodes(pool, held))...) }
}

func unregistered(ctx context.Context, env *e2e.Env, pool *fixtures.Pool) (release func()) {
	policy, binding := fixtures.Unregistrable(held)
	env.Enforce(ctx, policy, binding)
	pool.Label(held, "true")
	return func() { env.Delete(ctx, binding) }
}
