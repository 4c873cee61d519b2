package nodeclaim

import (
	"context"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
	"github.com/plumbline-e2e/plumbline/fixtures"
)

// mostOfAnyMachine is more memory than any machine has.
const mostOfAnyMachine = "1Pi"

// A NodeClaim that requests more than any instance has gets no node. The requests are the least
// that its node may have. On a smaller one, what the NodeClaim was made for can't run, and its
// author waits for it beside a machine that costs money.
//
// Source: spec.resources.requests of the NodeClaim API, "the minimum required resources for the
// NodeClaim to launch"; Karpenter: pkg/cloudprovider/types.go, Create, "launches a NodeClaim with
// the given resource requests and requirements".
var _ = Suite.Add(e2e.Spec{
	Name: "gets no node when no instance can hold what it requests",
	Run: func(ctx context.Context, env *e2e.Env) {
		nodeClaim := fixtures.NodeClaim().Request("memory", mostOfAnyMachine)
		nodes := newNodes(env, nodeClaim)

		before := env.Mark()
		env.Create(ctx, nodeClaim)
		env.Observe(ctx, 2*karpenter.Settled)

		env.Expect(env.Since(before), check.Always(check.None(nodes)))
	},
})
