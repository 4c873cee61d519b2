package repair

import (
	corev1 "k8s.io/api/core/v1"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/fixtures"
)

// voluntary returns the release since which repair is a voluntary disruption.
func voluntary() e2e.Since { return e2e.Since{Karpenter: "1.15"} }

// unhealthyNodes counts the nodes of a pool that a spec made unhealthy.
func unhealthyNodes(env *e2e.Env, pool *fixtures.Pool) check.Count {
	return check.Nodes(pool).With("that are unhealthy", env.Unhealthy())
}

// sparesAll checks that no node of a pool is disrupted while any is unhealthy.
func sparesAll(env *e2e.Env, pool *fixtures.Pool) check.Check {
	return check.While(unhealthyNodes(env, pool), check.None(check.DisruptedNodes(pool)))
}

// unhealthyNodesGo checks that the unhealthy nodes of a pool disappear.
func unhealthyNodesGo(env *e2e.Env, pool *fixtures.Pool) check.Response {
	return check.LeadsTo(check.AtLeast(1, unhealthyNodes(env, pool)), check.None(unhealthyNodes(env, pool)))
}

// repairedOnceDisrupted checks that a pool's unhealthy nodes disappear after a disruption.
func repairedOnceDisrupted(env *e2e.Env, pool *fixtures.Pool) check.Check {
	return check.LeadsTo(check.AtLeast(1, check.DisruptedNodes(pool)), check.None(unhealthyNodes(env, pool)))
}

// deployment returns a Deployment on a pool. Kubernetes leaves its pods on nodes that are not
// ready, so that only Karpenter moves them.
func deployment(pods int, pool *fixtures.Pool) *fixtures.Workload {
	return fixtures.Deployment(pods).On(pool).
		Tolerate(corev1.TaintNodeUnreachable).Tolerate(corev1.TaintNodeNotReady)
}
