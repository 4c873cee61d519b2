package drift

import (
	"context"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
	"github.com/plumbline-e2e/plumbline/fixtures"
	"github.com/plumbline-e2e/plumbline/providers"
)

// Karpenter replaces a node that no longer matches its NodeClass, even if its pool is
// unchanged. New images reach nodes this way. Only the provider can find this drift, and
// it gives its own reason. The new node hasn't drifted.
//
// Source: designs/drift.md, "CloudProvider drift"; Karpenter:
// pkg/cloudprovider/types.go, IsDrifted.
var _ = Suite.Add(e2e.Spec{
	Name:  "replaces nodes that no longer match their NodeClass",
	Needs: []providers.Capability{providers.NodePools, providers.NodeClassDrift},
	Hooks: []providers.HookName{providers.DriftNodeClass},
	Run: func(ctx context.Context, env *e2e.Env) {
		pool := fixtures.NodePool()
		app := fixtures.Deployment(1).On(pool)
		env.Create(ctx, pool, app)
		env.Await(ctx, 1, check.RunningPods(app))

		before := env.Mark()
		env.Hook(ctx, providers.DriftNodeClass)
		env.Await(ctx, 1, check.DriftedNodeClaims(pool))
		env.Await(ctx, 1, check.RunningPods(app).On(check.ReplacedNodes(pool, before)))
		env.Await(ctx, 0, check.Nodes(pool).Old(before))
		env.Observe(ctx, karpenter.Settled)

		env.Expect(env.Since(before), check.ActsOnDrift(pool),
			check.Always(check.Each(check.DriftedNodeClaims(pool), "have a reason of the provider's", foundByProvider)),
			check.Always(check.None(check.NodeClaims(pool).In(karpenter.Drifted).New(before))))
	},
})

// foundByProvider tells whether a NodeClaim drifted for a reason that is not core's
// (Karpenter: pkg/controllers/nodeclaim/disruption/drift.go).
func foundByProvider(nodeClaim *unstructured.Unstructured) bool {
	drifted, _ := karpenter.Condition(nodeClaim, karpenter.Drifted)
	return drifted.Reason != "" && drifted.Reason != "NodePoolDrifted" && drifted.Reason != "RequirementsDrifted"
}
