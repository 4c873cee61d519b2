package termination

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/fixtures"
)

// A node that is drained gets a label that takes it out of load balancers, before the
// first pod leaves it. Otherwise, requests to its ending pods fail until health checks
// notice minutes later. Before the drain the node has no such label.
//
// Source: label node.kubernetes.io/exclude-from-external-load-balancers;
// pkg/controllers/node/termination/terminator/terminator.go, Taint.
var _ = Suite.Add(e2e.Spec{
	Name: "takes a node out of load balancers before pods leave it",
	Run: func(ctx context.Context, env *e2e.Env) {
		pool := fixtures.NodePool()
		app := fixtures.Pod().On(pool).Lingering()
		launchNode(ctx, env, pool)
		env.Create(ctx, app)
		env.Await(ctx, 1, check.RunningPods(app))

		before := env.Mark()
		deleteNodeClaim(ctx, env, pool)
		releasePod(ctx, env, app, turn)
		env.Await(ctx, 0, check.Nodes(pool).Old(before))

		excluded := check.Nodes(pool).With("that load balancers leave out", outOfBalancers)
		env.Expect(env.Since(before), nodesGoAfterDrain(pool),
			check.Until(check.None(excluded), check.AtLeast(1, check.Nodes(pool).Deleting())),
			check.While(check.PodsOf(app).Deleting(), check.Exactly(1, excluded)))
	},
})

func outOfBalancers(node *unstructured.Unstructured) bool {
	return node.GetLabels()[corev1.LabelNodeExcludeBalancers] != ""
}
