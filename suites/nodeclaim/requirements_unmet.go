package nodeclaim

import (
	"context"

	corev1 "k8s.io/api/core/v1"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
	"github.com/plumbline-e2e/plumbline/fixtures"
)

// A NodeClaim with a requirement that no instance meets gets no node, and disturbs nobody. A user may
// have mistyped a zone, or the cloud has none of that type there. The provider looks among what it
// has, finds nothing, and says so. The next NodeClaim gets its node.
//
// Source: spec.requirements of the NodeClaim API; Karpenter: pkg/cloudprovider/types.go,
// InsufficientCapacityError; pkg/controllers/nodeclaim/lifecycle/launch.go.
var _ = e2e.Table(Suite, map[string]struct{ what, key string }{
	"zone":          {"a zone", corev1.LabelTopologyZone},
	"instance-type": {"an instance type", corev1.LabelInstanceTypeStable},
}, func(row struct{ what, key string }) e2e.Spec {
	return e2e.Spec{
		Name: "gets no node when it requires " + row.what + " that there is not",
		Run: func(ctx context.Context, env *e2e.Env) {
			nodeClaim, later := fixtures.NodeClaim().Require(row.key, fixtures.In, "nowhere"), fixtures.NodeClaim()
			nodes := newNodes(env, nodeClaim)

			before := env.Mark()
			env.Create(ctx, nodeClaim)
			env.Observe(ctx, 2*karpenter.Settled)
			alone, together := env.Since(before), env.Mark()
			env.Create(ctx, later)
			env.Await(ctx, 1, check.The(later).In(karpenter.Initialized))

			env.Expect(alone, check.Always(check.None(nodes)))
			env.Expect(env.Since(together),
				check.LeadsTo(check.AtLeast(1, check.The(later)), check.AtLeast(1, check.The(later).In(karpenter.Initialized))))
		},
	}
})
