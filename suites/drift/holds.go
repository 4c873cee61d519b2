package drift

import (
	"context"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
	"github.com/plumbline-e2e/plumbline/fixtures"
)

// A hold keeps a pod's node from being disrupted until it is removed (off). The pod is the
// only pod of its workload. A hold begins before the workload is created (from), so that it
// outlives its pod, or when the pod runs (on).
type hold struct {
	from    func(*fixtures.Workload)
	on, off func(context.Context, *e2e.Env, *fixtures.Workload)
}

// heldNode is a spec about a held node.
type heldNode struct {
	name string
	hold
}

// byPod holds a node by a do-not-disrupt pod.
func byPod() hold {
	return hold{
		func(app *fixtures.Workload) { app.Annotate(karpenter.DoNotDisruptAnnotation, "true") },
		func(context.Context, *e2e.Env, *fixtures.Workload) {},
		func(ctx context.Context, env *e2e.Env, app *fixtures.Workload) {
			env.RemoveAnnotation(ctx, env.Await(ctx, 1, check.RunningPods(app))[0], karpenter.DoNotDisruptAnnotation)
		},
	}
}

// byNode holds a node by do-not-disrupt on the node.
func byNode() hold {
	return hold{
		func(*fixtures.Workload) {},
		func(ctx context.Context, env *e2e.Env, app *fixtures.Workload) {
			env.Annotate(ctx, nodeOf(ctx, env, app), karpenter.DoNotDisruptAnnotation, "true")
		},
		func(ctx context.Context, env *e2e.Env, app *fixtures.Workload) {
			env.RemoveAnnotation(ctx, nodeOf(ctx, env, app), karpenter.DoNotDisruptAnnotation)
		},
	}
}

// byPDB holds a node by a PodDisruptionBudget that allows no eviction.
func byPDB() hold {
	return hold{
		func(*fixtures.Workload) {},
		func(ctx context.Context, env *e2e.Env, app *fixtures.Workload) { env.Create(ctx, app.MinAvailable(1)) },
		func(ctx context.Context, env *e2e.Env, app *fixtures.Workload) { env.Change(ctx, app.MinAvailable(0)) },
	}
}

func nodeOf(ctx context.Context, env *e2e.Env, app *fixtures.Workload) fixtures.Object {
	return fixtures.Node(karpenter.PodNode(env.Await(ctx, 1, check.RunningPods(app))[0].Unstructured()))
}
