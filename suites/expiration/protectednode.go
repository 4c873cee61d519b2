package expiration

import (
	"context"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
	"github.com/plumbline-e2e/plumbline/fixtures"
	"github.com/plumbline-e2e/plumbline/providers"
)

// A node that must not be disrupted expires all the same: the annotation is there
// for who owns the node's pods, and must not outweigh what an administrator has
// set to be sure how old nodes get.
//
// Source: designs/forceful-expiration.md, "bypassing NDBs and do-not-disrupt";
// annotation karpenter.sh/do-not-disrupt.
var _ = Suite.Add(e2e.Spec{
	Name:  "comes also to a node that must not be disrupted",
	Needs: []providers.Capability{providers.NodePools},
	Run: func(ctx context.Context, env *e2e.Env) {
		pool := fixtures.NodePool().ExpireAfter(ttl)
		app := fixtures.Deployment(1).On(pool)
		env.Create(ctx, pool, app)
		pod := env.Await(ctx, 1, check.RunningPods(app))[0]

		before, old := env.Now(), env.World()
		env.Patch(ctx, karpenter.Nodes, "", karpenter.PodNode(pod.Unstructured()), protection)
		env.Watch(ctx, ttlLength+late)

		protected := check.NodesWith(pool, protected, "that must not be disrupted")
		env.Expect(env.Since(before), expiring(pool),
			check.LeadsTo(check.AtLeast(1, protected), check.AtLeast(1, protected.With("and are being deleted", karpenter.Deleting))),
			check.LeadsTo(check.AtLeast(1, protected), check.None(check.Nodes(pool).Old(old))))
	},
})

func protected(node *unstructured.Unstructured) bool {
	return node.GetAnnotations()[karpenter.DoNotDisruptAnnotation] == "true"
}
