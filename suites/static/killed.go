package static

import (
	"context"
	"time"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/check"
)

// A static pool never has more nodes than replicas, not even when the controller is killed
// as it launches them: what it had begun it finds again when it is back, and begins nothing
// twice. That it is back shows by the node that it launches when they are raised.
//
// Source: designs/static-capacity.md, "Scale-Up Controller", which waits for the state of
// the cluster; pkg/controllers/static/provisioning.
var _ = Suite.Add(e2e.Spec{
	Name:   "has no node too many when the controller is killed",
	Needs:  needs(),
	Gate:   gate,
	Since:  e2e.Since{Karpenter: "1.8"},
	Within: 3 * time.Minute,
	Run: func(ctx context.Context, env *e2e.Env) {
		pool := static(4)

		before := env.Now()
		env.Create(ctx, pool)
		env.AwaitAtLeast(ctx, 1, check.NodeClaims(pool))
		env.KillController(ctx)
		env.Await(ctx, 4, initialized(pool))
		killed, raised := env.Since(before), env.Now()
		env.Change(ctx, pool.Replicas(5))
		env.Await(ctx, 5, initialized(pool))
		env.Watch(ctx, settled)

		env.Expect(killed, check.Always(check.AtMost(4, check.NodeClaims(pool))))
		env.Expect(env.Since(raised), check.Always(check.AtMost(5, check.NodeClaims(pool))),
			check.LeadsTo(check.AtLeast(5, check.NodeClaims(pool)), check.Exactly(5, check.ReadyNodes(pool))))
		retire(ctx, env, pool)
	},
})
