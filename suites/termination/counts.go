package termination

import (
	"context"
	"time"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
	"github.com/plumbline-e2e/plumbline/fixtures"
)

// launchNode creates a pool and waits until its node is initialized. Specs create their own pods
// later. While the taint karpenter.sh/unregistered is removed, Kubernetes may evict a bound
// pod, because it still sees the taint
// (https://github.com/kubernetes/kubernetes/issues/119862).
func launchNode(ctx context.Context, env *e2e.Env, pool *fixtures.Pool) {
	env.Create(ctx, pool, fixtures.Deployment(1).On(pool))
	env.Await(ctx, 1, check.NodeClaims(pool).In(karpenter.Initialized))
}

// deleteNodeClaim deletes the only NodeClaim of a pool, as an administrator does.
func deleteNodeClaim(ctx context.Context, env *e2e.Env, pool *fixtures.Pool) {
	env.Delete(ctx, env.Await(ctx, 1, check.NodeClaims(pool).In(karpenter.Initialized))[0])
}

// releasePod waits until a lingering pod is being deleted, waits longer, and removes its
// finalizers.
func releasePod(ctx context.Context, env *e2e.Env, app *fixtures.Workload, after time.Duration) {
	pod := env.Await(ctx, 1, check.PodsOf(app).Deleting())[0]
	env.Observe(ctx, after)
	env.RemoveFinalizers(ctx, pod)
}

// nodesGoAfterDrain checks that a pool's nodes are removed after their drain begins. Pods that wait for
// eviction may get new nodes.
func nodesGoAfterDrain(pool *fixtures.Pool) check.Response {
	return check.LeadsTo(check.AtLeast(1, check.Nodes(pool).Deleting()), check.None(check.Nodes(pool).Deleting()))
}

// staysForEnding checks that a pool's only node isn't drained, and its instance not terminated, while a pod ends.
func staysForEnding(app *fixtures.Workload, pool *fixtures.Pool) check.Check {
	return check.While(check.PodsOf(app).Deleting(), check.AllOf(
		check.Exactly(1, check.Nodes(pool).Deleting()),
		check.None(check.NodeClaims(pool).In(karpenter.Drained)),
		check.None(check.NodeClaims(pool).In(karpenter.InstanceTerminating))))
}
