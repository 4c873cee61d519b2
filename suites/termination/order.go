package termination

import (
	"context"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
	"github.com/plumbline-e2e/plumbline/fixtures"
)

// Pods leave a node in four turns, and none begins before the one before it has
// ended: first those that are neither critical nor a daemon's, then daemons, then
// critical pods, critical daemons last. What others need to end well, such as
// DNS, the network and logs, is there until they have.
//
// Source: pkg/controllers/node/termination/terminator/terminator.go;
// https://kubernetes.io/docs/concepts/cluster-administration/node-shutdown;
// Karpenter's regression suite, "should drain pods on a node in order".
var _ = Suite.Add(e2e.Spec{
	Name: "evicts pods in four groups, daemons and critical pods last",
	Run: func(ctx context.Context, env *e2e.Env) {
		pool := fixtures.NodePool()
		app, daemon := fixtures.Pod().On(pool).Lingering(), fixtures.DaemonSet().On(pool).Lingering()
		critical := fixtures.Pod().On(pool).Lingering().Priority(fixtures.SystemClusterCritical)
		last := fixtures.DaemonSet().On(pool).Priority(fixtures.SystemNodeCritical)
		begin(ctx, env, pool)
		env.Create(ctx, daemon, last, app, critical)
		env.Await(ctx, 1, check.RunningPods(app))
		env.Await(ctx, 1, check.RunningPods(daemon))
		env.Await(ctx, 1, check.RunningPods(critical))
		env.Await(ctx, 1, check.RunningPods(last))

		before := env.Mark()
		end(ctx, env, pool)
		release(ctx, env, app, turn)
		release(ctx, env, daemon, turn)
		release(ctx, env, critical, turn)
		env.Await(ctx, 0, check.Nodes(pool).Old(before))

		env.Expect(env.Since(before), inTurn(app, daemon), inTurn(daemon, critical), inTurn(critical, last), gone(pool))
	},
})

// turn is how long a pod that is told to end keeps those of later turns waiting:
// Karpenter looks again every second.
const turn = 3 * karpenter.DrainPoll

// inTurn checks that no pod of a workload is told to end while one of another is
// there.
func inTurn(first, second *fixtures.Workload) check.Check {
	return check.While(check.PodsOf(first).Deleting(), check.AllOf(
		check.AtLeast(1, check.RunningPods(second)), check.None(check.PodsOf(second).Deleting())))
}
