package repair

import (
	"context"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/fixtures"
	"github.com/plumbline-e2e/plumbline/providers"
)

// gate is the feature gate that lets Karpenter repair nodes.
const gate = "NodeRepair"

// voluntary is since when repair is a voluntary disruption.
func voluntary() e2e.Since { return e2e.Since{Karpenter: "1.15"} }

func needs() []providers.Capability {
	return []providers.Capability{providers.NodePools, providers.NodeRepair}
}

// running lets a pool launch nodes for a workload and returns their names.
func running(ctx context.Context, env *e2e.Env, pool *fixtures.Pool, app *fixtures.Workload, nodes int) []string {
	env.Create(ctx, pool, app)
	env.Await(ctx, nodes, check.RunningPods(app))
	env.Await(ctx, nodes, check.InitializedClaims(pool))
	var names []string
	for _, node := range env.Await(ctx, nodes, check.ReadyNodes(pool)) {
		names = append(names, node.Name)
	}
	return names
}

// unhealthy counts the nodes of a pool that have been made so.
func unhealthy(env *e2e.Env, pool *fixtures.Pool) check.Count {
	return check.NodesWith(pool, env.Unhealthy(), "that are unhealthy")
}

// left checks that no node of a pool is disrupted while there are unhealthy ones.
func left(env *e2e.Env, pool *fixtures.Pool) check.Check {
	return check.Always(check.When(check.AtLeast(1, unhealthy(env, pool)), check.None(check.DisruptedNodes(pool))))
}

// repaired checks that the unhealthy nodes of a pool go.
func repaired(env *e2e.Env, pool *fixtures.Pool) check.Response {
	return check.LeadsTo(check.AtLeast(1, unhealthy(env, pool)), check.None(unhealthy(env, pool)))
}

// afterwards checks that the unhealthy nodes of a pool go once they are disrupted.
func afterwards(env *e2e.Env, pool *fixtures.Pool) check.Check {
	return check.LeadsTo(check.AtLeast(1, check.DisruptedNodes(pool)), check.None(unhealthy(env, pool)))
}
