package termination

import (
	"context"
	"time"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
	"github.com/plumbline-e2e/plumbline/fixtures"
)

// When a terminationGracePeriod bounds the drain, a pod is told to end so early
// that its own grace period fits: what it does in these seconds, a preStop hook
// among it, is not cut off by the instance being ended. Until then its word not
// to disrupt it counts.
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
		begin(ctx, env, pool)
		env.Create(ctx, app)
		env.Await(ctx, 1, check.RunningPods(app))

		before := env.Mark()
		end(ctx, env, pool)
		env.Await(ctx, 1, check.Nodes(pool).Deleting())
		staying := env.Observe(ctx, karpenter.DrainPolled)
		env.Await(ctx, 0, check.Nodes(pool).Old(before))

		env.Expect(staying, check.While(check.Nodes(pool).Deleting(), check.Exactly(1, check.RunningPods(app))))
		env.Expect(env.Since(before), check.Within(early, check.LeadsTo(
			check.AtLeast(1, check.Nodes(pool).Deleting()), check.None(check.RunningPods(app)))))
	},
})

// early is when such a pod must have been told: twenty seconds after the drain
// began, and at most ten more, in which Karpenter tries again.
const early = 20*time.Second + karpenter.EvictionRetry + 2*time.Second
