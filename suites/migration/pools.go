package migration

import (
	"context"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/check"
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
	env.Launch(ctx, pods, from, app)
}

// arrived claims that all pods run on nodes of a pool.
func arrived(app *fixtures.Workload, at *fixtures.Pool) check.Claim {
	return check.Exactly(pods, check.RunningPods(app).On(check.ReadyNodes(at)))
}
