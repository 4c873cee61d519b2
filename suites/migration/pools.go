package migration

import (
	"context"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/fixtures"
)

// pods is the number of pods that move. Each has its own node.
const pods = 2

// workload builds a workload that may run on any pool joined to it.
func workload() *fixtures.Workload {
	app := fixtures.Deployment(pods).OnePodPerNode()
	return app.Select(fixtures.Key("fleet"), app.GetName())
}

// poolFor builds a pool whose nodes accept a workload's pods.
func poolFor(app *fixtures.Workload) *fixtures.Pool {
	return fixtures.NodePool().Label(fixtures.Key("fleet"), app.GetName())
}

// runOn runs a workload on one pool, before other pools exist.
func runOn(ctx context.Context, env *e2e.Env, from *fixtures.Pool, app *fixtures.Workload) {
	env.Launch(ctx, pods, from, app)
}

// allPodsOn claims that all pods run on nodes of a pool.
func allPodsOn(app *fixtures.Workload, at *fixtures.Pool) check.Claim {
	return check.Exactly(pods, check.RunningPods(app).On(check.ReadyNodes(at)))
}
