package conversion

import (
	"context"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
	"github.com/plumbline-e2e/plumbline/fixtures"
)

// Once the CRDs store v1, Karpenter itself writes what an older release has stored as v1beta1, and
// then says in the CRDs' status that nothing else is stored. Without that no user can ever install
// CRDs without v1beta1, which all later releases have. If Karpenter said so too early, the API server
// could not read the rest of its objects after the next upgrade. What has been written carries an
// annotation, which the conversion drops from what is stored as v1beta1.
//
// Source: "Migration Path" in designs/v1-api.md; pkg/controllers/migration; the annotation
// karpenter.sh/stored-version-migrated in pkg/apis/v1/labels.go.
var _ = Suite.Add(e2e.Spec{
	Name:   "migrates pools and NodeClaims that are stored as v1beta1 to v1",
	Within: 5 * time.Minute,
	Run: func(ctx context.Context, env *e2e.Env) {
		pool := olderPool()
		nodes := env.Launch(ctx, 1, pool, fixtures.Deployment(1).On(pool))
		storeAsV1Beta1(ctx, env, pool)

		env.StoreAs(ctx, karpenter.NodePools.Version)
		after := env.Mark()
		env.AwaitStored(ctx, karpenter.NodePools.Version)
		env.Observe(ctx, karpenter.Settled)
		env.Expect(env.Since(after),
			check.Always(check.Exactly(1, check.The(nodes[0]))),
			check.Finally(check.Each(check.The(pool), "are stored as v1", migrated)),
			check.Finally(check.Each(check.NodeClaims(pool), "are stored as v1", migrated)))
	},
})

// migrated reports whether Karpenter has written an object since it is stored as v1.
func migrated(o *unstructured.Unstructured) bool {
	return o.GetAnnotations()["karpenter.sh/stored-version-migrated"] == "true"
}
