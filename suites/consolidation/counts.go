package consolidation

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/e2e/history"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
	"github.com/plumbline-e2e/plumbline/fixtures"
)

// A node that must be too large for its pods gets its large pod first. Otherwise a busy
// scheduler may be late with some pods, and these get nodes of their own.
//
// In specs about replacements, pools consolidate from the start, and a deleted pod makes a
// node a candidate. A changed pool isn't ready for a moment. If Karpenter computes then, it
// looks again only when pods or nodes change, or after five minutes.

const (
	// port is a host port of pods that must not share a node. A node has room for another such
	// pod once its first is gone.
	port = 7000
	// otherPort is another host port.
	otherPort = 7001
)

// neverDisrupted claims that no node on which a workload's pods run is disrupted.
func neverDisrupted(app *fixtures.Workload, pool *fixtures.Pool) check.Claim {
	return check.None(check.RunningPods(app).On(check.DisruptedNodes(pool)))
}

// launchLargeNodes launches two nodes, each for a pod of three CPUs and a small one. Once the
// large pods one and two are gone, the small pods fit on one node. app is one of these.
func launchLargeNodes(ctx context.Context, env *e2e.Env, pool *fixtures.Pool) (one, two, app *fixtures.Workload) {
	one = fixtures.Deployment(1).On(pool).CPU("3").HostPort(port)
	two = fixtures.Deployment(1).On(pool).CPU("3").HostPort(otherPort)
	app = fixtures.Deployment(1).On(pool).HostPort(otherPort)
	other := fixtures.Deployment(1).On(pool).HostPort(port)
	env.Create(ctx, pool, one)
	env.Await(ctx, 1, check.RunningPods(one))
	env.Create(ctx, app)
	env.Await(ctx, 1, check.RunningPods(app))
	env.Create(ctx, two)
	env.Await(ctx, 1, check.RunningPods(two))
	env.Create(ctx, other)
	env.Await(ctx, 1, check.RunningPods(other))
	env.Observe(ctx, karpenter.NominationOver)
	return one, two, app
}

// launchForPort launches a node of the pool other for app and first, and one of pool for last. Both first
// and last need a host port, so the pod of last fits on the other node once first is gone. The other node is
// not nominated any more.
func launchForPort(ctx context.Context, env *e2e.Env, other, pool *fixtures.Pool) (first, last *fixtures.Workload) {
	group := fixtures.Key("group")
	app := fixtures.Deployment(1).On(other).CPU("3")
	first = fixtures.Pod().On(other).HostPort(port)
	last = fixtures.Deployment(1).Select(group, other.GetName()).HostPort(port)
	env.Create(ctx, other.Label(group, other.GetName()), app)
	env.Await(ctx, 1, check.RunningPods(app))
	env.Create(ctx, first)
	env.Await(ctx, 1, check.RunningPods(first))
	env.Observe(ctx, karpenter.NominationOver)
	env.Create(ctx, pool.Label(group, other.GetName()).Weight(1), last)
	env.Await(ctx, 1, check.RunningPods(last).On(check.Nodes(pool)))
	return first, last
}

// requireSpot checks that a pool's new NodeClaims can only become spot nodes. Otherwise they become dearer ones
// when spot is short.
func requireSpot(pool *fixtures.Pool, before history.Mark) check.Check {
	return check.Always(check.Each(check.NodeClaims(pool).New(before), "require spot",
		check.Requiring(karpenter.CapacityTypeLabel, karpenter.Spot)))
}

// offersTypes checks that each of a pool's new NodeClaims may become one of so many instance types.
func offersTypes(types int, pool *fixtures.Pool, before history.Mark) check.Check {
	return check.Always(check.Each(check.NodeClaims(pool).New(before), fmt.Sprintf("are offered %d types", types),
		func(nodeClaim *unstructured.Unstructured) bool {
			return len(karpenter.NodeClaimRequired(nodeClaim, corev1.LabelInstanceTypeStable)) == types
		}))
}
