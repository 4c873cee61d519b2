package conversion

import (
	"context"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
	"github.com/plumbline-e2e/plumbline/fixtures"
)

// As long as a pool may be stored as v1beta1, CRDs without v1beta1 are refused, and the refusal says
// so. All releases since 1.1 have such CRDs. Who skips 1.0, or upgrades again before it has migrated
// everything, is stopped there. Otherwise the API server could not read its pools any more.
//
// Source: "Migration Path" in designs/v1-api.md, step 5;
// "Versions in CustomResourceDefinitions" in Kubernetes' documents, "Upgrade existing objects to a new
// stored version".
var _ = Suite.Add(e2e.Spec{
	Name: "keeps a release without v1beta1 out while pools may be stored in it",
	Run: func(ctx context.Context, env *e2e.Env) {
		env.StoreAs(ctx, karpenter.V1Beta1)
		env.Create(ctx, fixtures.RawNodePool().V1Beta1())
		env.ExpectUndroppable(ctx, karpenter.V1Beta1)
	},
})
