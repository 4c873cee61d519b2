package drift

import (
	"context"
	"fmt"

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
func byPod() hold { return hold{annotatePod(`"true"`), annotatePod(`null`)} }

// byNode holds a node that must not be disrupted itself.
func byNode() hold { return hold{annotateNode(`"true"`), annotateNode(`null`)} }

// byPDB holds a node since a PodDisruptionBudget allows no pod to be evicted.
func byPDB() hold {
	return hold{
		func(ctx context.Context, env *e2e.Env, app *fixtures.Workload) { env.Create(ctx, app.MinAvailable(1)) },
		func(ctx context.Context, env *e2e.Env, app *fixtures.Workload) { env.Change(ctx, app.MinAvailable(0)) },
	}
}

func annotatePod(value string) func(context.Context, *e2e.Env, *fixtures.Workload) {
	return func(ctx context.Context, env *e2e.Env, app *fixtures.Workload) {
		pod := env.Await(ctx, 1, check.RunningPods(app))[0]
		env.Patch(ctx, karpenter.Pods, pod.Namespace, pod.Name, doNotDisrupt(value))
	}
}

func annotateNode(value string) func(context.Context, *e2e.Env, *fixtures.Workload) {
	return func(ctx context.Context, env *e2e.Env, app *fixtures.Workload) {
		pod := env.Await(ctx, 1, check.RunningPods(app))[0]
		env.Patch(ctx, karpenter.Nodes, "", karpenter.PodNode(pod.Unstructured()), doNotDisrupt(value))
	}
}

func doNotDisrupt(value string) string {
	return fmt.Sprintf(`{"metadata":{"annotations":{%q:%s}}}`, karpenter.DoNotDisruptAnnotation, value)
}
