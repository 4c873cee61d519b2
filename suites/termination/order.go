package termination

import (
	"context"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
	"github.com/plumbline-e2e/plumbline/fixtures"
)

// Karpenter evicts pods in four groups: ordinary pods, then daemons, then critical pods,
// and critical daemons last. A group begins when the previous group has ended. Services
// that pods need to end well, such as DNS, the network and logs, outlast these pods.
//
// Source: pkg/controllers/node/termination/terminator/terminator.go;
// https://kubernetes.io/docs/concepts/cluster-administration/node-shutdown;
// Karpenter's regression suite, "should drain pods on a node in order".
var _ = Suite.Add(e2e.Spec{
	Name: "evicts pods in four groups, daemons and critical pods last",
	Known: []e2e.Known{{
		Releases: ">=1.0.0 <1.1.0", // seen in v1.0.8
		Issue:    "https://github.com/kubernetes-sigs/karpenter/pull/1478",
		Reason:   "a group's pods are evicted once those of the group before have been told to end",
		Breaks:   []string{"^always at least 1 pod of .* when at least 1 pod of .* that is being deleted"},
	}},
	Run: func(ctx context.Context, env *e2e.Env) {
		pool := fixtures.NodePool()
		app, daemon := fixtures.Pod().On(pool).Lingering(), fixtures.DaemonSet().On(pool).Lingering()
		critical := fixtures.Pod().On(pool).Lingering().Priority(fixtures.SystemClusterCritical)
		last := fixtures.DaemonSet().On(pool).Priority(fixtures.SystemNodeCritical)
		launchNode(ctx, env, pool)
		env.Create(ctx, daemon, last, app, critical)
		env.Await(ctx, 1, check.RunningPods(app))
		env.Await(ctx, 1, check.RunningPods(daemon))
		env.Await(ctx, 1, check.RunningPods(critical))
		env.Await(ctx, 1, check.RunningPods(last))

		before := env.Mark()
		deleteNodeClaim(ctx, env, pool)
		releasePod(ctx, env, app, turn)
		releasePod(ctx, env, daemon, turn)
		releasePod(ctx, env, critical, turn)
		env.Await(ctx, 0, check.Nodes(pool).Old(before))

		env.Expect(env.Since(before), inTurn(app, daemon), inTurn(daemon, critical), inTurn(critical, last),
			nodesGoAfterDrain(pool))
	},
})

// turn bounds how long a pod's deletion delays the pods of later turns. Karpenter checks every
// second.
const turn = 3 * karpenter.DrainPoll

// inTurn checks that no pod of second is being deleted while a pod of first is.
func inTurn(first, second *fixtures.Workload) check.Check {
	return check.While(check.PodsOf(first).Deleting(), check.AllOf(
		check.AtLeast(1, check.RunningPods(second)), check.None(check.PodsOf(second).Deleting())))
}
