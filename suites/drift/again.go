package drift

import (
	"context"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
	"github.com/plumbline-e2e/plumbline/fixtures"
	"github.com/plumbline-e2e/plumbline/providers"
)

// When a replacement goes before it could take over, the drifted node stays in
// service, and Karpenter tries again: an instance may be lost at any time, and
// that must neither cost the pods their node nor leave the node drifted for good.
//
// Source: Karpenter: pkg/controllers/disruption/queue.go, waitOrTerminate
// ("replacement was deleted").
var _ = Suite.Add(e2e.Spec{
	Name:  "keeps a node whose replacement is lost, and tries again",
	Needs: []providers.Capability{providers.NodePools},
	Run: func(ctx context.Context, env *e2e.Env) {
		starting := fixtures.Key("starting")
		pool := fixtures.NodePool()
		app := fixtures.Deployment(1).On(pool)
		env.Create(ctx, pool, app)
		env.Await(ctx, 1, check.RunningPods(app))

		before, old := env.Now(), env.World()
		env.Change(ctx, pool.StartupTaint(starting, fixtures.NoSchedule))
		lost := env.Await(ctx, 1, check.ClaimsWith(pool, check.True(karpenter.Registered), "that are registered").New(old))[0]
		first := env.World()
		env.Delete(ctx, fixtures.Existing("karpenter.sh/v1", "NodeClaim", lost.Name))
		disrupted := check.DisruptedNodes(pool).Old(old)
		env.Await(ctx, 0, disrupted)
		second := env.Await(ctx, 1, check.ReplacedNodes(pool, first).With("and starting", check.Tainted(starting)))[0]
		trying := env.Since(before)
		env.RemoveTaint(ctx, second.Name, starting)
		env.Await(ctx, 1, check.RunningPods(app).On(check.ReplacedNodes(pool, first)))

		env.Expect(trying, check.Always(check.When(check.AtLeast(1, check.DriftedClaims(pool)), check.Exactly(1, staying(pool).Old(old)))),
			check.Whenever(check.Leaves(disrupted), "it stays", func(*unstructured.Unstructured) check.Claim {
				return check.Exactly(1, staying(pool).Old(old))
			}))
	},
})
