package taints

import (
	"context"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
	"github.com/plumbline-e2e/plumbline/fixtures"
)

// prompt bounds the wait of a node for its registration: milliseconds, or some seconds if
// another client, such as the kubelet, also writes to the node and Karpenter retries.
const prompt = 15 * time.Second

// Karpenter removes the unregistered taint once it has written a joined node's labels and
// taints. Nothing can start before, because the taint keeps everything off, even the
// network agent.
//
// Source: taint karpenter.sh/unregistered:NoExecute;
// https://github.com/kubernetes-sigs/karpenter/issues/1049.
var _ = Suite.Add(e2e.Spec{
	Name: "of unregistered nodes are removed as soon as the node is registered",
	Run: func(ctx context.Context, env *e2e.Env) {
		pool := fixtures.NodePool()
		app := fixtures.Deployment(3).OnePodPerNode().On(pool)

		before := env.Mark()
		env.Create(ctx, pool, app)
		env.Await(ctx, 3, check.RunningPods(app))

		joined := check.Enters(check.Where("nodes with the taint", karpenter.Nodes,
			check.Tainted(karpenter.UnregisteredTaint)))
		env.Expect(env.Since(before),
			check.Within(prompt, check.After(joined, "it has lost it", func(node *unstructured.Unstructured) check.Claim {
				return check.AtLeast(1,
					check.Node(node.GetName()).With("without the taint", check.Tainted(karpenter.UnregisteredTaint).Not()))
			})))
	},
})
