package repair

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/e2e/history"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
	"github.com/plumbline-e2e/plumbline/fixtures"
	"github.com/plumbline-e2e/plumbline/providers"
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
	return allGo(unhealthyNodes(env, pool))
}

// allGo checks that such nodes disappear.
func allGo(nodes check.Count) check.Response {
	return check.LeadsTo(check.AtLeast(1, nodes), check.None(nodes))
}

// repairedOnceDisrupted checks that a pool's unhealthy nodes disappear after a disruption.
func repairedOnceDisrupted(env *e2e.Env, pool *fixtures.Pool) check.Check {
	return check.LeadsTo(check.AtLeast(1, check.DisruptedNodes(pool)), check.None(unhealthyNodes(env, pool)))
}

// reboots returns what specs need whose nodes are rebooted.
func reboots() []providers.Capability {
	return []providers.Capability{providers.NodePools, providers.NodeReboot}
}

// requiringReboot counts the nodes of a pool with a fault that a reboot clears.
func requiringReboot(env *e2e.Env, pool *fixtures.Pool) check.Count {
	return check.Nodes(pool).With("that require a reboot", env.RebootRequired())
}

// rebooting counts the NodeClaims of a pool whose nodes Karpenter reboots, their drain included.
func rebooting(pool *fixtures.Pool) check.Count {
	return check.NodeClaims(pool).In(karpenter.Rebooting)
}

// fenced counts the nodes of a pool that take no new pods until they have booted.
func fenced(pool *fixtures.Pool) check.Count {
	return check.Nodes(pool).With("that are tainted as rebooting",
		check.TaintedWith(karpenter.RebootingTaint, fixtures.NoSchedule))
}

// rebooted counts the nodes of a pool that have booted since a mark.
func rebooted(pool *fixtures.Pool, since history.Mark) check.Count {
	boots := map[string]string{} // by the node's name
	for _, node := range check.Nodes(pool).Of(since.World()) {
		boots[node.Name] = karpenter.BootID(node.Unstructured())
	}
	return check.Nodes(pool).With("that have booted again", func(node *unstructured.Unstructured) bool {
		boot, known := boots[node.GetName()]
		return known && karpenter.BootID(node) != boot
	})
}

// deployment returns a Deployment on a pool. Kubernetes leaves its pods on nodes that are not
// ready, so that only Karpenter moves them.
func deployment(pods int, pool *fixtures.Pool) *fixtures.Workload {
	return fixtures.Deployment(pods).On(pool).
		Tolerate(corev1.TaintNodeUnreachable).Tolerate(corev1.TaintNodeNotReady)
}
