package provisioning

import (
	"context"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
	"github.com/plumbline-e2e/plumbline/fixtures"
)

// If a pool allows several values of a label of its user's, and a pod asks for none, Karpenter
// chooses one: the NodeClaim and its node have it from the start. A node without the label is in
// no rack, and pods that are spread over racks don't fit there.
//
// Source: https://karpenter.sh/docs/concepts/scheduling, "User-Defined Labels"; Karpenter:
// pkg/controllers/provisioning/scheduling/nodeclaimtemplate.go, ToNodeClaim.
var _ = Suite.Add(e2e.Spec{
	Name: "chooses one of the values of a label that a pool allows",
	Known: []e2e.Known{{
		Releases: ">=1.0.0 <1.9.0", // seen in v1.0.8 and v1.6.4; by the source up to v1.8.0
		Issue:    "https://github.com/kubernetes-sigs/karpenter/pull/2586",
		Reason:   "a NodeClaim has only labels with a single value",
		Breaks:   []string{"^always all .* are in one of the racks"},
	}},
	Run: func(ctx context.Context, env *e2e.Env) {
		pool := fixtures.NodePool().Require(rack, fixtures.In, "a", "b")
		app := fixtures.Deployment(3).On(pool).OnePodPerNode()

		before := env.Mark()
		env.Create(ctx, pool, app)
		env.Await(ctx, 3, check.RunningPods(app))

		env.Expect(env.Since(before), check.Always(check.AtMost(3, check.NodeClaims(pool))),
			check.Always(check.Each(check.NodeClaims(pool), "are in one of the racks", isInRack)),
			check.Always(check.Each(check.ReadyNodes(pool), "are in one of the racks", isInRack)))
	},
})

// isInRack matches what has the label of one of two racks.
func isInRack(o *unstructured.Unstructured) bool {
	return karpenter.Label(o, rack) == "a" || karpenter.Label(o, rack) == "b"
}
