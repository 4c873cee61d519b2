package provisioning

import (
	"context"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
	"github.com/plumbline-e2e/plumbline/fixtures"
)

// namesake is a reference to a NodeClass by the name of the provider's, but not to it.
type namesake struct {
	of   string
	pool func(group, kind, name string) *fixtures.Pool
}

// A provider launches nothing for a NodePool whose NodeClass is of another group or kind than its
// own, although it has a NodeClass of that name. Several providers can share a cluster, and
// each has a NodeClass called default. A pod would get a machine of the wrong cloud, which is
// paid for twice if the right provider launches one as well.
//
// Source: spec.template.spec.nodeClassRef of the NodePool API; designs/v1-api.md, "Requiring
// all nodeClassRef fields"; pkg/utils/nodepool/nodepool.go, IsManaged.
var _ = e2e.Table(Suite, map[string]namesake{
	"group": {"group", func(_, kind, name string) *fixtures.Pool {
		return fixtures.NodePool().NodeClassOf("plumbline.test", kind, name)
	}},
	"kind": {"kind", func(group, _, name string) *fixtures.Pool {
		return fixtures.NodePool().NodeClassOf(group, "AnotherKind", name)
	}},
}, func(n namesake) e2e.Spec {
	return e2e.Spec{
		Name:  "launches nothing for a NodeClass of the same name and another " + n.of,
		Since: e2e.Since{Karpenter: "1.1"},
		Run: func(ctx context.Context, env *e2e.Env) {
			group, kind, name := env.AnotherNodeClass(ctx)
			others, own := n.pool(group, kind, name), fixtures.NodePool().NodeClassCalled(name)
			left, served := fixtures.Deployment(1).On(others), fixtures.Deployment(1).On(own)

			before := env.Mark()
			env.Create(ctx, others, left)
			env.Create(ctx, own, served)
			env.Await(ctx, 1, check.RunningPods(served))
			env.Observe(ctx, karpenter.PodsRetried)

			env.Expect(env.Since(before), passedOver(others, left),
				check.Always(check.None(check.The(others).In(karpenter.Ready).AmongObjects(check.PodsOf(left)))),
				check.Always(check.AtMost(1, check.NodeClaims(own))),
				check.LeadsTo(check.AtLeast(1, check.PodsOf(served)), check.Exactly(1, check.RunningPods(served))))
		},
	}
})
