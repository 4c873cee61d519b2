package conversion

import (
	"context"
	"time"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
	"github.com/plumbline-e2e/plumbline/fixtures"
)

// No node is replaced by the way from v1beta1 to v1 in the order of the documents: the CRDs, which
// store v1 then, the controller, and the manifests, one by one. Each field of the pool's template says
// the same as before, so no node has drifted. An upgrade that rolls all nodes is an outage. A pod that
// comes late shows that the new controller leads: until then nothing could roll.
//
// Source: "Migration Path" in designs/v1-api.md; https://karpenter.sh/v1.0/upgrading/v1-migration.
var _ = Suite.Add(e2e.Spec{
	Name:   "replaces no node on the way from v1beta1 to v1",
	Within: 5 * time.Minute,
	Run: func(ctx context.Context, env *e2e.Env) {
		older, other := olderPool().Write("spec.disruption.expireAfter", "240h"), fixtures.NodePool()
		late := fixtures.Deployment(1).On(other)
		env.Launch(ctx, 1, older, fixtures.Deployment(1).On(older))
		storeAsV1Beta1(ctx, env, older)

		before := env.Mark()
		env.StoreAs(ctx, karpenter.NodePools.Version)
		after := env.Mark()
		env.KillController(ctx)
		env.Create(ctx, other, late)
		env.Await(ctx, 1, check.RunningPods(late))
		env.Observe(ctx, karpenter.Settled)
		env.Change(ctx, newerPool().Called(older).Write("spec.template.spec.expireAfter", "240h"))
		env.Observe(ctx, karpenter.Settled)

		env.Expect(env.Since(after),
			check.Always(check.Exactly(1, check.NodeClaims(older).Old(before))),
			check.Always(check.None(check.NodeClaims(older).Deleting())),
			check.Always(check.None(check.NodeClaims(older).New(before))),
			check.Always(check.None(check.DriftedNodeClaims(older))))
	},
})
