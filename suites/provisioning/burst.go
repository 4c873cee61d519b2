package provisioning

import (
	"context"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
	"github.com/plumbline-e2e/plumbline/fixtures"
)

// A hundred pods that wait together get few nodes, and pods run on each of these nodes. A
// job or a release that starts so many pods is ordinary load. A node without pods costs
// money for nothing.
//
// Source: settings batch-idle-duration and batch-max-duration,
// https://karpenter.sh/docs/concepts/scheduling; Karpenter's regression suite,
// "should do simple provisioning".
var _ = Suite.Add(e2e.Spec{
	Name: "packs a burst of 100 pods on few nodes, and leaves none of them empty",
	Run: func(ctx context.Context, env *e2e.Env) {
		pool := fixtures.NodePool()
		app := fixtures.Deployment(100).On(pool)

		before := env.Mark()
		env.Create(ctx, app)
		env.Await(ctx, 100, check.UnschedulablePods(app))
		env.Create(ctx, pool)
		env.Await(ctx, 100, check.RunningPods(app))

		env.Expect(env.Since(before),
			// Two, since there are providers whose nodes have room for fewer pods.
			check.Always(check.AtMost(2, check.NodeClaims(pool))),
			check.After(check.Enters(check.Nodes(pool)), "pods run there", func(node *unstructured.Unstructured) check.Claim {
				return check.AtLeast(1, check.RunningPods(app).On(check.Node(node.GetName())))
			}, karpenter.Pods))
	},
})
