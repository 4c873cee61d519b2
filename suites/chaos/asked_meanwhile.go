package chaos

import (
	"context"
	"time"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
	"github.com/plumbline-e2e/plumbline/fixtures"
)

// A NodeClaim that was created while the controller was away gets its node. What a
// controller knows only in memory, it has to learn again when it starts. That it hasn't
// yet must not be a reason to give up: a NodeClaim without a NodePool isn't created again.
// An earlier NodeClaim shows that the NodeClass is ready.
//
// Source: https://karpenter.sh/docs/concepts/nodeclaims.
var _ = Suite.Add(e2e.Spec{
	Name:   "launches a NodeClaim that was created while its controller was away",
	Within: 3 * time.Minute,
	Run: func(ctx context.Context, env *e2e.Env) {
		earlier, meanwhile := fixtures.NodeClaim(), fixtures.NodeClaim()
		env.Create(ctx, earlier)
		env.Await(ctx, 1, check.The(earlier).In(karpenter.Initialized))

		before := env.Mark()
		env.KillController(ctx)
		env.Create(ctx, meanwhile)
		env.Await(ctx, 1, check.The(meanwhile).In(karpenter.Initialized))

		env.Expect(env.Since(before), check.Always(check.None(check.The(meanwhile).Deleting())))
	},
})
