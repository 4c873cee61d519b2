package conversion

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
	"github.com/plumbline-e2e/plumbline/fixtures"
	"github.com/plumbline-e2e/plumbline/providers"
)

// A NodeClass's status says the same in both versions, also after a client has written it as v1beta1.
// It says what the NodeClass has selected in the cloud, and whether it is ready: Karpenter launches
// nothing for a NodeClass whose status it can't read.
//
// Source: "Status Conditions" in designs/v1-api.md; the status of both versions in the NodeClass's CRD.
var _ = Suite.Add(e2e.Spec{
	Name:  "keeps the status of NodeClasses",
	Needs: append(nodeClasses(), providers.NodeClassStatus),
	Run: func(ctx context.Context, env *e2e.Env) {
		pool := newerPool()
		env.Launch(ctx, 1, pool, fixtures.Deployment(1).On(pool))
		env.Observe(ctx, karpenter.Settled)
		newer := env.NodeClass(ctx)
		now := env.Await(ctx, 1, check.The(newer))[0].Unstructured()
		older := classIn(karpenter.V1Beta1, now)

		env.PatchStatus(ctx, older, fmt.Sprintf(`{"status":{"conditions":%s}}`, fixtures.MoreConditions(now, example)))
		env.ExpectFields(ctx, withClassStatus(classIn(karpenter.NodeClaims.Version, now), now), withClassStatus(older, now))
	},
})

// classIn refers to a NodeClass in a version.
func classIn(version string, class *unstructured.Unstructured) *fixtures.Raw {
	return fixtures.RawNodeClass(class.GroupVersionKind().Group, version, class.GetKind(), "").
		Called(fixtures.Existing(class.GetAPIVersion(), class.GetKind(), class.GetName()))
}

// withClassStatus adds the whole status to what is expected of a NodeClass.
func withClassStatus(class *fixtures.Raw, of *unstructured.Unstructured) *fixtures.Raw {
	status, _, _ := unstructured.NestedMap(of.Object, "status")
	return withStatus(class, of, slices.Sorted(maps.Keys(status))...)
}
