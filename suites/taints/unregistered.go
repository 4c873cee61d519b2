package taints

import (
	"context"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
	"github.com/plumbline-e2e/plumbline/fixtures"
)

// A node joins with the taint karpenter.sh/unregistered. It loses the taint in one step
// with its registration. Pods bound before its labels and taints are synced would run
// where they must not.
//
// Source: https://karpenter.sh/docs/concepts/nodeclaims, "Node registration";
// taint karpenter.sh/unregistered:NoExecute.
var _ = Suite.Add(e2e.Spec{
	Name: "mark a node as unregistered until it is registered",
	Run: func(ctx context.Context, env *e2e.Env) {
		pool := fixtures.NodePool()
		app := fixtures.Deployment(2).On(pool).OnePodPerNode()

		before := env.Mark()
		env.Create(ctx, pool, app)
		env.Await(ctx, 2, check.RunningPods(app))

		joined := check.JoinedNodes(pool)
		unregistered := joined.With("tainted as unregistered", check.Tainted(karpenter.UnregisteredTaint))
		env.Expect(env.Since(before),
			check.Always(check.Each(joined, "are either registered or tainted as unregistered", registeredOrTainted)),
			check.LeadsTo(check.AtLeast(1, unregistered), check.AtLeast(1, check.RegisteredNodes(pool))),
			check.Always(check.None(check.BoundPods(app).On(unregistered))))
	},
})

func registeredOrTainted(node *unstructured.Unstructured) bool {
	return check.Labeled(karpenter.RegisteredLabel, "true")(node) != karpenter.HasTaint(node, karpenter.UnregisteredTaint)
}
