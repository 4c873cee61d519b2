package termination

import (
	"context"
	"time"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
	"github.com/plumbline-e2e/plumbline/fixtures"
)

// With a terminationGracePeriod, Karpenter tells a pod to end so early that the pod's own
// grace period fits. The instance's end does not cut off the pod's last work, such as a
// preStop hook. Until then Karpenter respects the pod's do-not-disrupt annotation.
//
// Source: designs/nodeclaim-termination-grace-period.md;
// spec.terminationGracePeriod of the NodeClaim API; Karpenter's regression suite,
// "should delete pod with do-not-disrupt when it reaches its
// terminationGracePeriodSeconds".
var _ = Suite.Add(e2e.Spec{
	Name: "evicts pods early enough for their grace period to end by the deadline",
	Run: func(ctx context.Context, env *e2e.Env) {
		pool := fixtures.NodePool().TerminationGracePeriod("40s")
		app := fixtures.Pod().On(pool).GracePeriod(20).Annotate(karpenter.DoNotDisruptAnnotation, "true")
		launchNode(ctx, env, pool)
		env.Create(ctx, app)
		env.Await(ctx, 1, check.RunningPods(app))

		before := env.Mark()
		deleteNodeClaim(ctx, env, pool)
		env.Await(ctx, 1, check.Nodes(pool).Deleting())
		staying := env.Observe(ctx, karpenter.DrainPolled)
		env.Await(ctx, 0, check.Nodes(pool).Old(before))

		env.Expect(staying, check.While(check.Nodes(pool).Deleting(), check.Exactly(1, check.RunningPods(app))))
		env.Expect(env.Since(before), check.Within(early, check.LeadsTo(
			check.AtLeast(1, check.Nodes(pool).Deleting()), check.None(check.RunningPods(app)))))
	},
})

// early bounds when such a pod is deleted: twenty seconds after the drain begins, and at most
// ten more for Karpenter's retry.
const early = 20*time.Second + karpenter.EvictionRetry + 2*time.Second
