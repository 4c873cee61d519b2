package drift

import (
	"context"
	"time"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
	"github.com/plumbline-e2e/plumbline/fixtures"
)

// failing is a change of a pool that makes its new nodes fail. Spoil returns a function that
// ends this.
type failing struct {
	name  string
	spoil func(context.Context, *e2e.Env, *fixtures.Pool) (restore func())
}

// broken is both a label of nodes that can't be registered and a startup taint that stays.
const broken = fixtures.Domain + "/broken"

// If its replacement fails, a drifted node stays in service, and its pods keep running.
// Ten minutes later it is no longer marked as disrupted, so that new pods may come. A
// broken image or network configuration must not take down running pods. If the
// replacement comes up after all, drift continues.
//
// Source: Karpenter: pkg/controllers/disruption/queue.go; its suite "disruption",
// "should not disrupt a drifted node if the replacement node never registers" and
// "... registers but never initialized".
var _ = e2e.Table(Suite, map[string]failing{
	"unregistered":  {"keeps a node in service whose replacement isn't registered", neverRegisters},
	"uninitialized": {"keeps a node in service whose replacement isn't initialized", neverInitializes},
}, func(f failing) e2e.Spec {
	return e2e.Spec{
		Name:   f.name,
		Labels: []string{"slow"},
		Within: 13 * time.Minute,
		Run: func(ctx context.Context, env *e2e.Env) {
			pool := fixtures.NodePool()
			app := fixtures.Deployment(1).On(pool)
			env.Create(ctx, pool, app)
			env.Await(ctx, 1, check.RunningPods(app))

			before := env.Mark()
			restore := f.spoil(ctx, env, pool)
			env.Change(ctx, pool)
			disrupted := check.DisruptedNodes(pool).Old(before)
			env.Await(ctx, 1, disrupted)
			env.Observe(ctx, karpenter.ReplacementTimeout-time.Minute)
			env.Await(ctx, 0, disrupted)
			env.Observe(ctx, karpenter.NominationOver)
			failed := env.Since(before)
			restore()
			env.Await(ctx, 1, check.RunningPods(app).On(check.ReplacedNodes(pool, before)))

			env.Expect(failed, check.LeadsTo(check.AtLeast(1, disrupted), check.None(disrupted)),
				check.While(check.DriftedNodeClaims(pool), check.AllOf(
					check.Exactly(1, check.ReadyNodes(pool).Staying().Old(before)), check.Exactly(1,
						check.RunningPods(app).On(check.Nodes(pool).Old(before))))))
		},
	}
})

func neverRegisters(ctx context.Context, env *e2e.Env, pool *fixtures.Pool) (restore func()) {
	policy, binding := fixtures.Unregistrable(broken)
	env.Enforce(ctx, policy, binding)
	pool.Label(broken, "true")
	return func() { env.Delete(ctx, binding) }
}

func neverInitializes(ctx context.Context, env *e2e.Env, pool *fixtures.Pool) (restore func()) {
	pool.StartupTaint(broken, fixtures.NoSchedule)
	return func() {
		env.RemoveTaint(ctx, broken, env.Await(ctx, 1, check.StartingNodes(pool, broken))...)
	}
}
