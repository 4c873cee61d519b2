package nodeclaim

import (
	"context"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
	"github.com/plumbline-e2e/plumbline/fixtures"
)

// A node's allocatable resources, not just its capacity, cover its NodeClaim's requests.
// The requesting workload will run there, and no pod exists yet that would show a
// shortage.
//
// Source: spec.resources.requests of the NodeClaim API, "the minimum resources
// required to be launched".
var _ = Suite.Add(e2e.Spec{
	Name: "gets a node that can hold what it requests",
	Run: func(ctx context.Context, env *e2e.Env) {
		nodeClaim := fixtures.NodeClaim().Request("cpu", "3").Request("memory", "5Gi")
		ready := newNodes(env, nodeClaim).With("that are ready", karpenter.NodeReady)

		before := env.Mark()
		env.Create(ctx, nodeClaim)
		env.Await(ctx, 1, ready)

		env.Expect(env.Since(before),
			check.Always(check.Each(ready, "can hold the CPUs that are requested", check.Holding("cpu", "3"))),
			check.Always(check.Each(ready, "can hold the memory that is requested", check.Holding("memory", "5Gi"))))
	},
})
