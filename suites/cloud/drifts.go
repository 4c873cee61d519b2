package cloud

import (
	"context"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
	"github.com/plumbline-e2e/plumbline/fixtures"
	"github.com/plumbline-e2e/plumbline/providers"
)

// Nodes drift when the cloud offers other images, networks or other things that their
// NodeClass selects. The spec tests each of the provider's drift reasons. The condition
// Drifted has exactly that reason, because users look for it when their nodes are
// replaced. The replacement has not drifted.
//
// Source: designs/drift.md, "CloudProvider drift"; pkg/cloudprovider/types.go, DriftReason;
// condition Drifted of the NodeClaim API.
var _ = Suite.Add(e2e.Spec{
	Name:   "lets nodes drift when the cloud changes, for each of the provider's reasons",
	Needs:  []providers.Capability{providers.NodePools, providers.NodeClassDrift},
	Within: 40 * time.Minute,
	Run: func(ctx context.Context, env *e2e.Env) {
		pool := fixtures.NodePool()
		app := fixtures.Deployment(1).On(pool)
		env.Launch(ctx, 1, pool, app)
		env.EachDriftReason(func(reason string) { driftFor(ctx, env, reason, pool, app) })
	},
})

// driftFor makes the only node of a pool drift for a reason.
func driftFor(ctx context.Context, env *e2e.Env, reason string, pool *fixtures.Pool, app *fixtures.Workload) {
	drifted := check.DriftedNodeClaims(pool)
	drifted = drifted.Named(drifted.Name + " by " + reason)
	node := env.Await(ctx, 1, check.ReadyNodes(pool))[0]
	before := env.Mark()
	env.Drift(ctx, reason, e2e.About(node))
	env.Await(ctx, 1, drifted)
	env.Await(ctx, 1, check.RunningPods(app).On(check.ReplacedNodes(pool, before)))
	env.Await(ctx, 0, check.NodeClaims(pool).Old(before))
	env.Observe(ctx, karpenter.PodsRetried)

	env.Expect(env.Since(before),
		check.ActsOnDrift(pool),
		check.Always(check.Each(drifted, "have that reason", driftedFor(reason))),
		check.Always(check.None(drifted.New(before))),
		check.Always(check.AtMost(1, check.NodeClaims(pool).New(before))))
}

// driftedFor tells whether a NodeClaim has drifted for a reason.
func driftedFor(reason string) check.Predicate {
	return func(nodeClaim *unstructured.Unstructured) bool {
		drifted, _ := karpenter.Condition(nodeClaim, karpenter.Drifted)
		return drifted.Reason == reason
	}
}
