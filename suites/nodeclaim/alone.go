package nodeclaim

import (
	"context"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
	"github.com/plumbline-e2e/plumbline/fixtures"
)

// A NodeClaim without a NodePool gets one node and keeps it. Controllers that create
// NodeClaims themselves have no NodePool. Their nodes must not be removed as leftovers.
// Here the cluster has no NodePool at all, and nothing creates any.
//
// Source: https://karpenter.sh/docs/concepts/nodeclaims; Karpenter's regression
// suite, "should create a standard NodeClaim".
var _ = Suite.Add(e2e.Spec{
	Name: "gets a node and keeps it without any NodePool",
	Run: func(ctx context.Context, env *e2e.Env) {
		nodeClaim := fixtures.NodeClaim()
		nodes := newNodes(env, nodeClaim)
		pools := check.Where("NodePools", karpenter.NodePools, func(*unstructured.Unstructured) bool { return true })

		before := env.Mark()
		env.Create(ctx, nodeClaim)
		env.Await(ctx, 1, check.The(nodeClaim).In(karpenter.Initialized))
		env.Observe(ctx, karpenter.Settled)

		env.Expect(env.Since(before),
			check.Always(check.None(pools.New(before).AmongObjects(check.The(nodeClaim)))),
			check.Always(check.When(check.None(pools), check.AtMost(1, nodes))),
			check.Always(check.When(check.None(pools), check.None(check.The(nodeClaim).Deleting()))),
			check.Always(check.When(check.None(pools), check.None(nodes.Deleting()))))
	},
})
