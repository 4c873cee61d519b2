package migration

import (
	"context"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/e2e/history"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
	"github.com/plumbline-e2e/plumbline/fixtures"
)

// pods is how many pods are moved here, each on a node of its own.
const pods = 2

// fleet builds a workload that may run on any of the pools that are joined to it.
func fleet() *fixtures.Workload {
	app := fixtures.Deployment(pods).OnePodPerNode()
	return app.Select(fixtures.Key("fleet"), app.GetName())
}

// joined builds a pool on whose nodes a fleet's pods may run.
func joined(app *fixtures.Workload) *fixtures.Pool {
	return fixtures.NodePool().Label(fixtures.Key("fleet"), app.GetName())
}

// settle has a fleet run on the nodes of one pool, where there is no other yet.
func settle(ctx context.Context, env *e2e.Env, from *fixtures.Pool, app *fixtures.Workload) {
	env.Create(ctx, from, app)
	env.Await(ctx, pods, check.RunningPods(app).On(check.ReadyNodes(from)))
	env.Await(ctx, pods, check.InitializedClaims(from))
}

// remove deletes a node, as `kubectl delete node` does.
func remove(ctx context.Context, env *e2e.Env, node *history.Object) {
	env.Delete(ctx, fixtures.Existing("v1", "Node", node.Name))
}

// going counts the nodes of a pool that are being deleted.
func going(pool *fixtures.Pool) check.Count {
	return check.NodesWith(pool, karpenter.Deleting, "that are being deleted")
}

// arrived claims that all pods run on nodes of a pool.
func arrived(app *fixtures.Workload, at *fixtures.Pool) check.Claim {
	return check.Exactly(pods, check.RunningPods(app).On(check.ReadyNodes(at)))
}
