package upgrade

import (
	"context"
	"time"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
	"github.com/plumbline-e2e/plumbline/fixtures"
)

// Pods that come while the controllers change get one node each, and no more. The old controller may
// end in the middle of a batch, and the new one finds NodeClaims and pods whose nominations nobody
// remembers. Users upgrade under load, and pay for each node.
//
// Source: https://karpenter.sh/docs/concepts/nodeclaims: a NodeClaim is the record of a launch;
// https://karpenter.sh/docs/upgrading/upgrade-guide.
var _ = Suite.Add(e2e.Spec{
	Name:   "launches one node for each pod that comes while the controllers change",
	Within: 5 * time.Minute,
	Known: []e2e.Known{{
		Releases: ">=1.14.0 <=1.15.0", // seen from v1.14.3 to v1.15.0
		Issue:    e2e.Finding("karpenter-unrecorded-launches"),
		Reason:   "a launch that the old controller could not record, since it was ended, is launched again",
		Breaks: []string{
			"^in the end exactly 7 nodes", "^left behind: Node ", "instances, NodeClaims, nodes and pods come and go together",
		},
		Sometimes: true,
	}},
	Run: func(ctx context.Context, env *e2e.Env) {
		pool := fixtures.NodePool()
		running := fixtures.Deployment(1).OnePodPerNode().On(pool)
		early, late := fixtures.Deployment(3).OnePodPerNode().On(pool), fixtures.Deployment(3).OnePodPerNode().On(pool)
		env.Launch(ctx, 1, pool, running)
		env.UpgradeCRDs(ctx)

		before := env.Mark()
		env.Create(ctx, early.PodAntiAffinity(running, "kubernetes.io/hostname"))
		env.UpgradeController(ctx)
		env.Create(ctx, late.PodAntiAffinity(running, "kubernetes.io/hostname").
			PodAntiAffinity(early, "kubernetes.io/hostname"))
		env.Await(ctx, 3, check.RunningPods(early))
		env.Await(ctx, 3, check.RunningPods(late))
		env.Observe(ctx, karpenter.PodsRetried)

		launched := check.AtMost(7, check.NodeClaims(pool))
		env.Expect(env.Since(before), check.Always(launched), launched.Reached(),
			check.Always(check.None(check.DisruptedNodes(pool))),
			check.Finally(check.Exactly(7, check.ReadyNodes(pool))))
	},
})
