package provisioning

import (
	"context"

	corev1 "k8s.io/api/core/v1"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
	"github.com/plumbline-e2e/plumbline/fixtures"
)

// A pod waits while its volume is made for a node on which it can't run. The scheduler chose the node
// for an earlier pod, and told the volume's driver so. Until the volume is there, no other node will
// do, so a node that is launched meanwhile is empty. It may well be in a zone that the volume isn't.
//
// Source: annotation volume.kubernetes.io/selected-node of PersistentVolumeClaims,
// https://kubernetes.io/docs/reference/labels-annotations-taints; the scheduler's plugin VolumeBinding.
var _ = Suite.Add(e2e.Spec{
	Name: "launches nothing for a pod whose volume is being made for another node",
	Known: []e2e.Known{{
		Releases: ">=1.0.0 <=1.15.0", // seen in v1.14.3 and v1.15.0; no release reads the annotation
		Issue:    e2e.Finding("karpenter-volumes-for-another-node"),
		Reason:   "the node for which a volume is being made is ignored",
		Breaks:   []string{"^always no NodeClaims of pool .* that are new"},
	}},
	Run: func(ctx context.Context, env *e2e.Env) {
		pool := fixtures.NodePool()
		running := fixtures.Deployment(1).On(pool)
		node := env.Launch(ctx, 1, pool, running)[0]
		class, claim := fixtures.UnmadeVolume(node.Name)
		late := fixtures.Deployment(1).On(pool).Mount(claim).PodAntiAffinity(running, corev1.LabelHostname)

		before := env.Mark()
		env.Create(ctx, class, claim, late)
		env.Observe(ctx, karpenter.PodsRetried)

		env.Expect(env.Since(before), passedOverSince(before, pool, late))
	},
})
