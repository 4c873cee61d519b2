package termination

import (
	"context"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
	"github.com/plumbline-e2e/plumbline/fixtures"
)

// Karpenter waits for volumes only until the terminationGracePeriod ends. The NodeClaim
// of a node whose volumes stay attached does not report them as detached, and says so in the
// end. A storage driver that hangs must not keep an instance forever.
//
// Source: condition VolumesDetached of the NodeClaim API;
// designs/nodeclaim-termination-grace-period.md.
var _ = Suite.Add(e2e.Spec{
	Name:  "waits for volumes no longer than the deadline",
	Since: e2e.Since{Karpenter: "1.6"},
	Run: func(ctx context.Context, env *e2e.Env) {
		pool := fixtures.NodePool().TerminationGracePeriod("15s")
		launchNode(ctx, env, pool)
		env.Create(ctx, fixtures.Attachment("volume", env.Await(ctx, 1, check.Nodes(pool))[0].Name))

		before := env.Mark()
		deleteNodeClaim(ctx, env, pool)
		env.Await(ctx, 1, check.NodeClaims(pool).In(karpenter.Drained))
		attached := env.Observe(ctx, turn)
		env.Await(ctx, 0, check.Nodes(pool).Old(before))

		drained := check.AtLeast(1, check.NodeClaims(pool).In(karpenter.Drained))
		env.Expect(attached,
			check.Always(check.When(drained, check.None(check.NodeClaims(pool).In(karpenter.InstanceTerminating)))))
		env.Expect(env.Since(before), check.Within(bounded, nodesGoAfterDrain(pool)),
			check.Always(check.When(drained, check.None(check.NodeClaims(pool).In(karpenter.VolumesDetached)))))
		env.ExpectUndisturbed(env.Since(before),
			check.LeadsTo(drained, check.AtLeast(1, check.NodeClaims(pool).SayingWhyNot(karpenter.VolumesDetached))))
	},
})
