package chaos

import (
	"context"
	"time"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/e2e/faults"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
	"github.com/plumbline-e2e/plumbline/fixtures"
	"github.com/plumbline-e2e/plumbline/providers"
)

// Pods that wait get one node, also if another node is replaced just then. Karpenter makes room for
// waiting pods and replaces nodes side by side, and either plans for all pods that have none. If each
// launches what both have planned, there are two nodes for one pod, and a NodePool may be over its
// limits. Here a busy API server is late with the first NodeClaim.
//
// Source: https://karpenter.sh/docs/concepts/disruption, "Drift";
// https://karpenter.sh/docs/concepts/scheduling.
var _ = Suite.Add(e2e.Spec{
	Name:   "launches one node for a pod that waits while another node is replaced",
	Needs:  []providers.Capability{providers.NodePools},
	Within: 3 * time.Minute,
	Known: []e2e.Known{{
		Releases: ">=1.0.0 <=1.15.0", // seen in v1.9.0, v1.14.3 and v1.15.0
		Issue:    e2e.Finding("karpenter-nodes-for-pods-that-wait-while-others-are-replaced"),
		Reason:   "the command that replaces a drifted node launches nodes for all pods that wait, as the provisioner does",
		Breaks:   []string{"^always at most 1 NodeClaim of pool", "limits of NodePools are never exceeded"},
	}},
	Run: func(ctx context.Context, env *e2e.Env) {
		pool, other := fixtures.NodePool().Budget("0"), fixtures.NodePool().Limit("nodes", "1")
		app, late := fixtures.Deployment(1).On(pool), fixtures.Deployment(1).On(other)
		env.Create(ctx, other)
		env.Launch(ctx, 1, pool, app)
		env.Change(ctx, pool.NewTemplate())
		env.Await(ctx, 1, check.DriftedNodeClaims(pool))

		before := env.Mark()
		env.Fault(ctx, faults.Delay(faults.On("create", karpenter.NodeClaims), 2*karpenter.DisruptionPolled))
		env.Create(ctx, late)
		env.Observe(ctx, karpenter.Settled)
		env.Change(ctx, pool.NoBudgets())
		env.AwaitFaults(ctx)
		env.Await(ctx, 1, check.RunningPods(late))
		env.Await(ctx, 1, check.ReplacedNodes(pool, before))
		env.Observe(ctx, 2*karpenter.DisruptionPolled) // the late NodeClaim has come

		env.Expect(env.Since(before), check.Always(check.AtMost(1, check.NodeClaims(other))))
	},
})
