package consolidation

import (
	"context"
	"time"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
	"github.com/plumbline-e2e/plumbline/fixtures"
)

// A start of the controller brings no pods and takes none away. So NodeClaims show the same last pod as
// before, and consolidateAfter goes on to count from then. Otherwise each update, each change of the
// leader, and each crash begins the time again for all nodes, and a long one may never be over.
//
// Source: status.lastPodEventTime and spec.disruption.consolidateAfter of the NodeClaim and NodePool
// APIs.
var _ = Suite.Add(e2e.Spec{
	Name: "counts from when a pod last came or went if its controller starts again",
	Known: []e2e.Known{{
		Releases: ">=1.0.0 <=1.15.0", // seen in v1.14.3 and v1.15.0
		Issue:    e2e.Finding("karpenter-starts-that-count-as-pods"),
		Reason:   "all pods that run are taken for new ones when the controller starts",
		Breaks:   []string{"^always no NodeClaims .* that tell of a pod after "},
	}},
	Run: func(ctx context.Context, env *e2e.Env) {
		const apart = karpenter.PodEventMerge + time.Second
		pool, other := fixtures.NodePool(), fixtures.NodePool()
		app, next := fixtures.Deployment(1).On(pool), fixtures.Deployment(1).On(other)
		env.Create(ctx, pool, app)
		env.Await(ctx, 1, check.RunningPods(app))
		env.Observe(ctx, apart)
		known := env.Await(ctx, 1, check.NodeClaims(pool))[0]

		before := env.Mark()
		env.KillController(ctx)
		env.Create(ctx, other, next)
		env.Await(ctx, 1, check.RunningPods(next)) // the controller leads again

		later := withLaterPodEvent(pool, known)
		env.Expect(env.Since(before), check.Always(check.None(later.AmongObjects(check.PodsOf(app)))))
	},
})
