package nodeclaim

import (
	"context"
	"time"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
	"github.com/plumbline-e2e/plumbline/fixtures"
)

// gracePeriod is the terminationGracePeriod of this NodeClaim.
const gracePeriod = 10 * time.Second

// Karpenter drains a node as long as its NodeClaim's terminationGracePeriod and no
// longer, whatever its pods want. Pods that must not be disrupted have that time. Users
// that delete the NodeClaim know when the machine is free.
//
// Source: spec.terminationGracePeriod of the NodeClaim API;
// designs/nodeclaim-termination-grace-period.md.
var _ = Suite.Add(e2e.Spec{
	Name: "is drained for its own terminationGracePeriod and no longer",
	Run: func(ctx context.Context, env *e2e.Env) {
		nodeClaim := fixtures.NodeClaim().Label(fixtures.Key("order"), "drained").TerminationGracePeriod(gracePeriod.String())
		nodes := newNodes(env, nodeClaim)
		pod := fixtures.Pod().Select(fixtures.Key("order"), "drained").Annotate(karpenter.DoNotDisruptAnnotation, "true")
		env.Create(ctx, nodeClaim)
		env.Await(ctx, 1, check.The(nodeClaim).In(karpenter.Initialized))
		env.Create(ctx, pod)
		env.Await(ctx, 1, check.RunningPods(pod))

		before := env.Mark()
		env.Delete(ctx, nodeClaim)
		draining := nodes.Deleting()
		env.Await(ctx, 1, draining)
		staying := env.Observe(ctx, karpenter.Settled)
		env.Await(ctx, 0, nodes)

		env.Expect(staying, check.While(draining, check.Exactly(1, check.RunningPods(pod))))
		env.Expect(env.Since(before),
			check.Within(gracePeriod+karpenter.DrainEnded, check.LeadsTo(check.AtLeast(1, draining), check.None(nodes))))
	},
})
