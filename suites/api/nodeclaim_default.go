package api

import (
	"context"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
	"github.com/plumbline-e2e/plumbline/fixtures"
	"github.com/plumbline-e2e/plumbline/providers"
)

// A NodeClaim without expireAfter gets 30 days, with or without a NodePool. Without this
// default, a forgotten field would keep its node forever.
//
// Source: default of spec.expireAfter in the NodeClaim API.
var _ = Suite.Add(e2e.Spec{
	Name:  "lets the node of a NodeClaim live for 30 days, if the NodeClaim doesn't say otherwise",
	Needs: []providers.Capability{providers.StandaloneNodeClaims},
	Run: func(ctx context.Context, env *e2e.Env) {
		nodeClaim := fixtures.RawNodeClaim()
		before := env.Mark()
		env.Create(ctx, nodeClaim)
		env.Await(ctx, 1, check.The(nodeClaim).With("that are registered", check.True(karpenter.Registered)))
		env.Expect(env.Since(before),
			check.Always(check.Each(check.The(nodeClaim), "say so in spec.expireAfter", hasValue("spec.expireAfter", "720h"))))
	},
})
