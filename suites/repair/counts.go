package repair

import (
	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/fixtures"
)

// voluntary is since when repair is a voluntary disruption.
func voluntary() e2e.Since { return e2e.Since{Karpenter: "1.15"} }

// unhealthy counts the nodes of a pool that have been made so.
func unhealthy(env *e2e.Env, pool *fixtures.Pool) check.Count {
	return check.Nodes(pool).With("that are unhealthy", env.Unhealthy())
}

// sparesAll checks that no node of a pool is disrupted while there are unhealthy ones.
func sparesAll(env *e2e.Env, pool *fixtures.Pool) check.Check {
	return check.While(unhealthy(env, pool), check.None(check.DisruptedNodes(pool)))
}

// repaired checks that the unhealthy nodes of a pool go.
func repaired(env *e2e.Env, pool *fixtures.Pool) check.Response {
	return check.LeadsTo(check.AtLeast(1, unhealthy(env, pool)), check.None(unhealthy(env, pool)))
}

// repairedOnceDisrupted checks that the unhealthy nodes of a pool go once they are disrupted.
func repairedOnceDisrupted(env *e2e.Env, pool *fixtures.Pool) check.Check {
	return check.LeadsTo(check.AtLeast(1, check.DisruptedNodes(pool)), check.None(unhealthy(env, pool)))
}
