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

// prompt is how long a node may have to wait for its registration. That takes
// milliseconds, and a second or some more where somebody else, such as the node's
// kubelet, writes to the node at the same time: Karpenter then tries again.
const prompt = 15 * time.Second

// The unregistered taint doesn't outlast the joining of a node by more than
// Karpenter needs to write its labels and taints: it keeps everything off, the
// network agent included, and nothing can start before.
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
