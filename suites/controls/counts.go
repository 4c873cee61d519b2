package controls

import (
	"context"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/e2e/history"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
	"github.com/plumbline-e2e/plumbline/fixtures"
)

// unprotected takes all annotations from a pod, and a protected node's.
const (
	unprotectedPod  = `{"metadata":{"annotations":null}}`
	unprotectedNode = `{"metadata":{"annotations":{"` + karpenter.DoNotDisruptAnnotation + `":null}}}`
	protectedNode   = `{"metadata":{"annotations":{"` + karpenter.DoNotDisruptAnnotation + `":"true"}}}`
)

// held checks that nodes of a pool had drifted and were left alone.
func held(pool *fixtures.Pool) check.Check {
	return check.Always(check.When(check.AtLeast(1, check.DriftedClaims(pool)), check.None(check.DisruptedNodes(pool))))
}

// kept checks that nodes of a pool ran nothing that would be missed, could have
// been consolidated, and were left alone.
func kept(pool *fixtures.Pool, app *fixtures.Workload) check.Check {
	return check.Always(check.When(
		check.AllOf(check.None(check.PodsOf(app)), check.AtLeast(1, consolidatable(pool))),
		check.None(check.DisruptedNodes(pool))))
}

// drifting checks that drift happened and was acted on.
func drifting(pool *fixtures.Pool) check.Check {
	return check.LeadsTo(check.AtLeast(1, check.DriftedClaims(pool)), check.AtLeast(1, check.DisruptedNodes(pool)))
}

func consolidatable(pool *fixtures.Pool) check.Count {
	return check.ClaimsWith(pool, check.True(karpenter.Consolidatable), "that are consolidatable")
}

// removesEmpty lets Karpenter remove a pool's empty nodes at once.
func removesEmpty(pool *fixtures.Pool) *fixtures.Pool {
	return pool.ConsolidationPolicy(fixtures.WhenEmpty).ConsolidateAfter("0s")
}

// node creates what makes a pool launch one node, waits until the workload's pod
// runs there, and returns the node.
func node(ctx context.Context, env *e2e.Env, pool *fixtures.Pool, app *fixtures.Workload, more ...fixtures.Object) *history.Object {
	env.Create(ctx, append([]fixtures.Object{pool, app}, more...)...)
	env.Await(ctx, 1, check.RunningPods(app))
	return env.Await(ctx, 1, check.Nodes(pool))[0]
}
