package termination

import (
	"context"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
	"github.com/plumbline-e2e/plumbline/fixtures"
)

// Karpenter doesn't evict pods that tolerate the disrupted taint, and doesn't wait for
// them. A tolerating log collector or CNI agent works until the machine is switched off.
// Other pods leave.
//
// Source: taint karpenter.sh/disrupted:NoSchedule;
// https://karpenter.sh/docs/concepts/disruption, "Termination Controller".
var _ = Suite.Add(e2e.Spec{
	Name: "leaves pods alone that tolerate the disrupted taint",
	Run: func(ctx context.Context, env *e2e.Env) {
		pool := fixtures.NodePool()
		staying, leaving := fixtures.Pod().On(pool).Tolerate(karpenter.DisruptedTaint), fixtures.Pod().On(pool).Lingering()
		launchNode(ctx, env, pool)
		env.Create(ctx, staying, leaving)
		env.Await(ctx, 1, check.RunningPods(staying))
		env.Await(ctx, 1, check.RunningPods(leaving))

		before := env.Mark()
		deleteNodeClaim(ctx, env, pool)
		releasePod(ctx, env, leaving, turn)
		env.Await(ctx, 0, check.Nodes(pool).Old(before))

		env.Expect(env.Since(before), nodesGoAfterDrain(pool),
			check.LeadsTo(check.AtLeast(1, check.Nodes(pool).Deleting()), check.None(check.PodsOf(leaving))),
			check.While(check.Nodes(pool).Deleting(), check.Exactly(1, check.RunningPods(staying))))
	},
})
