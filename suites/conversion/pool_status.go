package conversion

import (
	"context"
	"fmt"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
	"github.com/plumbline-e2e/plumbline/fixtures"
)

// A NodePool's status says the same in both versions: what its nodes have together, which its limits
// count, and whether it is ready. Dashboards and alerts of users read it in the version that they
// were written for.
//
// Source: "Status Conditions" in designs/v1-api.md; NodePool.ConvertTo and ConvertFrom in
// pkg/apis/v1/nodepool_conversion.go.
var _ = Suite.Add(e2e.Spec{
	Name: "keeps the status of pools",
	Run: func(ctx context.Context, env *e2e.Env) {
		pool := newerPool()
		env.Launch(ctx, 1, pool, fixtures.Deployment(1).On(pool))
		env.Observe(ctx, karpenter.Settled)
		now := env.World().Get(karpenter.NodePools, "", pool.GetName()).Unstructured()
		env.PatchStatus(ctx, pool, fmt.Sprintf(`{"status":{"conditions":%s}}`, fixtures.MoreConditions(now, example)))

		env.ExpectFields(ctx, withStatus(fixtures.RawNodePool().Called(pool), now, "resources"),
			withStatus(fixtures.RawNodePool().V1Beta1().Called(pool), now, "resources"))
	},
})
