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

// When the cloud lacks what a NodeClass selects, the pool says that its NodeClass isn't
// ready, and the nodes that are there stay: they were launched when it was. When it is
// there again, the pool says so too and launches nodes. A tag that somebody took off by
// mistake must not cost a fleet.
//
// Source: condition NodeClassReady of the NodePool API; pkg/controllers/nodepool/readiness;
// https://github.com/kubernetes-sigs/karpenter/issues/557.
var _ = Suite.Add(e2e.Spec{
	Name:   "that lacks what a NodeClass selects costs no node, and serves new pods once it has it again",
	Needs:  []providers.Capability{providers.NodePools, providers.NodeClassReadiness},
	Hooks:  []providers.HookName{providers.UnreadyNodeClass, providers.ReadyNodeClass},
	Within: 10 * time.Minute,
	Run: func(ctx context.Context, env *e2e.Env) {
		pool := fixtures.NodePool()
		app := fixtures.Deployment(1).OnePodPerNode().On(pool)
		env.Launch(ctx, 1, pool, app)

		before := env.Mark()
		env.Hook(ctx, providers.UnreadyNodeClass)
		env.Await(ctx, 1, lacking(pool))
		env.Observe(ctx, time.Minute)
		env.Hook(ctx, providers.ReadyNodeClass)
		env.Await(ctx, 0, lacking(pool))
		env.Change(ctx, app.Replicas(2))
		env.Await(ctx, 2, check.RunningPods(app))

		env.Expect(env.Since(before),
			check.LeadsTo(check.AtLeast(1, lacking(pool)), check.None(lacking(pool))),
			check.While(lacking(pool), check.AllOf(
				check.Exactly(1, check.ReadyNodes(pool)), check.Exactly(1, check.RunningPods(app)),
				check.None(check.DisruptedNodes(pool)))),
			check.Always(check.None(check.DriftedNodeClaims(pool).AmongObjects(check.NodeClaims(pool)))),
			check.Always(check.AtMost(1, check.NodeClaims(pool).New(before))))
	},
})

// lacking counts the pool if it says that its NodeClass isn't ready.
func lacking(pool *fixtures.Pool) check.Count {
	return check.The(pool).With("whose NodeClass isn't ready", func(o *unstructured.Unstructured) bool {
		ready, _ := karpenter.Condition(o, karpenter.NodeClassReady)
		return ready.Status == metav1.ConditionFalse
	})
}
