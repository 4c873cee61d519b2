package upgrade

import (
	"context"
	"time"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/fixtures"
)

// Going back is clean: what the new release has launched runs on under the old one, isn't replaced and
// keeps every field that the old one knows. Users go back because something is wrong, and can't bear
// a second wave of replacements. The outcome notes the fields that the old CRDs lack: what is stored in
// them is lost. Pods that come afterwards get nodes.
//
// Source: https://karpenter.sh/docs/upgrading/upgrade-guide; designs/drift-hash-versioning.md.
var _ = Suite.Add(e2e.Spec{
	Name:   "goes back and keeps what the new release has launched",
	Within: 6 * time.Minute,
	Run: func(ctx context.Context, env *e2e.Env) {
		pool := fullPool()
		app, late := tolerant(fixtures.Deployment(2).OnePodPerNode().On(pool)), tolerant(fixtures.Deployment(1).On(pool))
		env.Upgrade(ctx)
		env.Launch(ctx, 2, pool, app)
		env.Observe(ctx, takenOver)

		before := env.Mark()
		stored := keepsFields(env.World())
		env.Downgrade(ctx)
		env.Observe(ctx, takenOver)
		back := env.Since(before)
		env.Create(ctx, late.PodAntiAffinity(app, "kubernetes.io/hostname"))
		env.Await(ctx, 1, check.RunningPods(late))

		env.Expect(back, check.Always(stored), check.Always(check.Exactly(2, check.NodeClaims(pool).Old(before))),
			check.Always(check.None(check.DriftedNodeClaims(pool))), check.Always(check.None(check.DisruptedNodes(pool))))
		env.Expect(env.Since(before), check.Finally(check.Exactly(3, check.ReadyNodes(pool))))
	},
})
