package upgrade

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

// A launch that the old controller couldn't record isn't repeated by the new one. The API server refuses
// the write, as it does under load, and the controller ends before it has tried again. The instance
// exists and says for which NodeClaim it is, and a second one would cost money that nobody looks for.
//
// Source: Karpenter: pkg/cloudprovider/types.go, Create and List, by which the new controller can find the
// instance; https://karpenter.sh/docs/concepts/nodeclaims.
var _ = Suite.Add(e2e.Spec{
	Name:   "launches nothing twice that the old controller couldn't record",
	Needs:  []providers.Capability{providers.StandaloneNodeClaims},
	Within: 5 * time.Minute,
	Known: []e2e.Known{{
		Releases: ">=1.0.0 <=1.15.0", // seen from v1.0.8, v1.14.0 and v1.14.3 to v1.15.0
		Issue:    e2e.Finding("karpenter-unrecorded-launches"),
		Reason:   "a launch is remembered in memory until it is recorded, and the next controller launches again",
		Breaks: []string{
			"^always at most 1 node", "^left behind: Node ", "instances, NodeClaims, nodes and pods come and go together",
		},
		Explored: "do: kill-controller",
	}},
	Run: func(ctx context.Context, env *e2e.Env) {
		nodeClaim := loneNodeClaim()
		policy, binding := fixtures.Unlaunched(nodeClaim)
		env.Enforce(ctx, policy, binding)

		before := env.Mark()
		nodes := check.Where("nodes", karpenter.Nodes, func(*unstructured.Unstructured) bool { return true }).New(before)
		env.Create(ctx, nodeClaim)
		env.Await(ctx, 1, nodes)
		env.Upgrade(ctx)
		env.Observe(ctx, takenOver)
		env.Delete(ctx, binding)
		env.Await(ctx, 1, check.The(nodeClaim).In(karpenter.Initialized))
		env.Observe(ctx, karpenter.Settled)

		launched := check.AtMost(1, nodes)
		env.Expect(env.Since(before), check.Always(launched), launched.Reached())
	},
})
