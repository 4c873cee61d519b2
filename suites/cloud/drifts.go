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

// When the cloud offers other images, networks or whatever a NodeClass selects, nodes that
// were launched from the old ones drift, for each of the provider's reasons and with just
// that one as the condition's reason, and are replaced by one that hasn't drifted. The
// reason is what people look for who see their nodes go.
//
// Source: designs/drift.md, "CloudProvider drift"; pkg/cloudprovider/types.go, DriftReason;
// condition Drifted of the NodeClaim API.
var _ = Suite.Add(e2e.Spec{
	Name:   "that moves on gets nodes replaced, for each of the provider's reasons",
	Needs:  []providers.Capability{providers.NodePools, providers.NodeClassDrift},
	Within: 40 * time.Minute,
	Run: func(ctx context.Context, env *e2e.Env) {
		pool := fixtures.NodePool()
		app := fixtures.Deployment(1).On(pool)
		reasons := env.DriftReasons()
		running(ctx, env, pool, app, 1)
		driftBy(ctx, env, pool, app, reasons)
	},
})

// driftBy makes the only node of a pool drift, for one reason after the other.
func driftBy(ctx context.Context, env *e2e.Env, pool *fixtures.Pool, app *fixtures.Workload, reasons []string) {
	for _, reason := range reasons {
		node := env.Await(ctx, 1, check.ReadyNodes(pool))[0]
		before, old := env.Now(), env.World()
		env.Drift(ctx, reason, about(node))
		env.Await(ctx, 1, check.DriftedClaims(pool))
		env.Await(ctx, 1, check.RunningPods(app).On(check.ReplacedNodes(pool, old)))
		env.Await(ctx, 0, check.NodeClaims(pool).Old(old))
		env.Watch(ctx, settled)

		env.Expect(env.Since(before),
			check.LeadsTo(check.AtLeast(1, check.DriftedClaims(pool)), check.AtLeast(1, check.DisruptedNodes(pool))),
			check.Always(check.Each(check.DriftedClaims(pool), "have drifted by "+reason, because(reason))),
			check.Always(check.None(check.DriftedClaims(pool).New(old))),
			check.Always(check.AtMost(1, check.NodeClaims(pool).New(old))))
	}
}

// because says whether a NodeClaim has drifted for a reason.
func because(reason string) func(*unstructured.Unstructured) bool {
	return func(claim *unstructured.Unstructured) bool {
		drifted, _ := karpenter.Condition(claim, karpenter.Drifted)
		return drifted.Reason == reason
	}
}
