package drift

import (
	"context"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
	"github.com/plumbline-e2e/plumbline/fixtures"
)

// A hold is what keeps the node of a pod from being disrupted, and what takes
// that back. The pod is the only one of its workload.
type hold struct {
	on, off func(context.Context, *e2e.Env, *fixtures.Workload)
}

// heldNode is a spec of a node that is held.
type heldNode struct {
	name string
	hold
}

// byPod holds a node since its pod must not be disrupted.
func byPod() hold {
	return hold{
		func(ctx context.Context, env *e2e.Env, app *fixtures.Workload) {
			env.Annotate(ctx, env.Await(ctx, 1, check.RunningPods(app))[0], karpenter.DoNotDisruptAnnotation, "true")
		},
		func(ctx context.Context, env *e2e.Env, app *fixtures.Workload) {
			env.RemoveAnnotation(ctx, env.Await(ctx, 1, check.RunningPods(app))[0], karpenter.DoNotDisruptAnnotation)
		},
	}
}

// byNode holds a node that must not be disrupted itself.
func byNode() hold {
	return hold{
		func(ctx context.Context, env *e2e.Env, app *fixtures.Workload) {
			env.Annotate(ctx, nodeOf(ctx, env, app), karpenter.DoNotDisruptAnnotation, "true")
		},
		func(ctx context.Context, env *e2e.Env, app *fixtures.Workload) {
			env.RemoveAnnotation(ctx, nodeOf(ctx, env, app), karpenter.DoNotDisruptAnnotation)
		},
	}
}

// byPDB holds a node since a PodDisruptionBudget allows no pod to be evicted.
func byPDB() hold {
	return hold{
		func(ctx context.Context, env *e2e.Env, app *fixtures.Workload) { env.Create(ctx, app.MinAvailable(1)) },
		func(ctx context.Context, env *e2e.Env, app *fixtures.Workload) { env.Change(ctx, app.MinAvailable(0)) },
	}
}

func nodeOf(ctx context.Context, env *e2e.Env, app *fixtures.Workload) fixtures.Object {
	return fixtures.Node(karpenter.PodNode(env.Await(ctx, 1, check.RunningPods(app))[0].Unstructured()))
}
