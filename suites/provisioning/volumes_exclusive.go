package provisioning

import (
	"context"

	corev1 "k8s.io/api/core/v1"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
	"github.com/plumbline-e2e/plumbline/fixtures"
)

// A pod waits for a volume that only one pod at a time may use. No node lets it run earlier, so a
// node that is launched meanwhile is empty, and stays as long as the pod waits. It happens whenever
// such a pod is replaced: the new one comes before the old one has ended.
//
// Source: access mode ReadWriteOncePod of the PersistentVolumeClaim API;
// https://kubernetes.io/docs/concepts/storage/persistent-volumes, "Access Modes"; the scheduler's
// plugin VolumeRestrictions.
var _ = Suite.Add(e2e.Spec{
	Name: "launches nothing for a pod whose volume another pod uses alone",
	Known: []e2e.Known{{
		Releases: ">=1.0.0 <=1.15.0", // seen in v1.14.3 and v1.15.0; no release reads access modes
		Issue:    e2e.Finding("karpenter-volumes-that-are-in-use"),
		Reason:   "the access mode ReadWriteOncePod is ignored",
		Breaks:   []string{"^always no NodeClaims of pool .* that are new"},
	}},
	Run: func(ctx context.Context, env *e2e.Env) {
		pool := fixtures.NodePool()
		volume, claim := fixtures.ExclusiveVolume()
		running := fixtures.Deployment(1).On(pool).Mount(claim)
		late := fixtures.Deployment(1).On(pool).Mount(claim).PodAntiAffinity(running, corev1.LabelHostname)
		env.Create(ctx, pool, volume, claim, running)
		env.Await(ctx, 1, check.RunningPods(running))

		before := env.Mark()
		env.Create(ctx, late)
		env.Observe(ctx, karpenter.PodsRetried)

		env.Expect(env.Since(before), passedOverSince(before, pool, late))
	},
})
