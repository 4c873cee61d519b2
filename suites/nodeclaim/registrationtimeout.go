package nodeclaim

import (
	"context"
	"time"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
	"github.com/plumbline-e2e/plumbline/fixtures"
)

// A NodeClaim whose node isn't registered for fifteen minutes is given up, and its instance
// with it, here since the API server refuses the registration: a machine that boots into
// nothing costs as much as one that works.
//
// Source: pkg/controllers/nodeclaim/lifecycle/liveness.go, registrationTimeout; Karpenter's
// regression suite, "should delete a NodeClaim after the registration timeout when the node
// doesn't register".
var _ = Suite.Add(e2e.Spec{
	Name:   "is given up when its node isn't registered for fifteen minutes",
	Needs:  needs(),
	Within: 18 * time.Minute,
	Labels: []string{"slow"},
	Run: func(ctx context.Context, env *e2e.Env) {
		key := fixtures.Key("stalled")
		policy, binding := fixtures.Unregistrable(key)
		env.Create(ctx, policy, binding)
		env.Watch(ctx, settled)
		claim := fixtures.NodeClaim().Label(key, "yes")
		nodes := newNodes(env, claim)

		before := env.Now()
		env.Create(ctx, claim)
		env.Await(ctx, 1, nodes)
		env.Await(ctx, 0, claims(claim))
		env.Await(ctx, 0, nodes)

		env.Expect(env.Since(before),
			check.Within(registrationTimeout, check.LeadsTo(check.AtLeast(1, in(claim, karpenter.Launched)), check.None(claims(claim)))),
			check.LeadsTo(check.AtLeast(1, nodes), check.None(nodes)),
			check.Always(check.None(in(claim, karpenter.Registered))))
	},
})

// registrationTimeout is a minute more than Karpenter's own, after which it looks again.
const registrationTimeout = 16 * time.Minute
