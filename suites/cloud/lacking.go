package cloud

import (
	"context"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
	"github.com/plumbline-e2e/plumbline/fixtures"
	"github.com/plumbline-e2e/plumbline/providers"
)

// The pool reports that its NodeClass is not ready while the cloud lacks what the
// NodeClass selects. Its nodes stay, because the NodeClass was ready at their launch.
// Once the cloud has it again, the pool reports that and launches nodes. A tag removed by
// mistake must not remove all nodes.
//
// Source: condition NodeClassReady of the NodePool API; pkg/controllers/nodepool/readiness;
// https://github.com/kubernetes-sigs/karpenter/issues/557.
var _ = Suite.Add(e2e.Spec{
	Name:   "keeps its nodes while the cloud lacks what a NodeClass selects, and then serves pods",
	Needs:  []providers.Capability{providers.NodePools, providers.NodeClassReadiness},
	Hooks:  []providers.HookName{providers.UnreadyNodeClass, providers.ReadyNodeClass},
	Within: 10 * time.Minute,
	Run: func(ctx context.Context, env *e2e.Env) {
		pool := fixtures.NodePool()
		app := fixtures.Deployment(1).OnePodPerNode().On(pool)
		env.Launch(ctx, 1, pool, app)

		before := env.Mark()
		env.Hook(ctx, providers.UnreadyNodeClass)
		env.Await(ctx, 1, unreadyPool(pool))
		env.Observe(ctx, time.Minute)
		env.Hook(ctx, providers.ReadyNodeClass)
		env.Await(ctx, 0, unreadyPool(pool))
		env.Change(ctx, app.Replicas(2))
		env.Await(ctx, 2, check.RunningPods(app))

		env.Expect(env.Since(before),
			check.LeadsTo(check.AtLeast(1, unreadyPool(pool)), check.None(unreadyPool(pool))),
			check.While(unreadyPool(pool), check.AllOf(
				check.Exactly(1, check.ReadyNodes(pool)), check.Exactly(1, check.RunningPods(app)),
				check.None(check.DisruptedNodes(pool)))),
			check.Always(check.None(check.DriftedNodeClaims(pool).AmongObjects(check.NodeClaims(pool)))),
			check.Always(check.AtMost(1, check.NodeClaims(pool).New(before))))
	},
})

// unreadyPool counts the pool if its status says that the NodeClass isn't ready.
func unreadyPool(pool *fixtures.Pool) check.Count {
	return check.The(pool).With("whose NodeClass isn't ready", func(o *unstructured.Unstructured) bool {
		ready, _ := karpenter.Condition(o, karpenter.NodeClassReady)
		return ready.Status == metav1.ConditionFalse
	})
}
