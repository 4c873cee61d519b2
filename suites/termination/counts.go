package termination

import (
	"context"
	"time"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
	"github.com/plumbline-e2e/plumbline/fixtures"
)

// begin creates a pool and has it launch a node, on which a spec's pods come to run
// when it is at work. One that is bound in the moment in which the taint
// karpenter.sh/unregistered goes may be evicted for it, by a Kubernetes that still
// sees the taint (https://github.com/kubernetes/kubernetes/issues/119862).
func begin(ctx context.Context, env *e2e.Env, pool *fixtures.Pool) {
	env.Create(ctx, pool, fixtures.Deployment(1).On(pool))
	env.Await(ctx, 1, check.NodeClaims(pool).In(karpenter.Initialized))
}

// end deletes the only NodeClaim of a pool, as an administrator would who wants its
// node gone.
func end(ctx context.Context, env *e2e.Env, pool *fixtures.Pool) {
	env.Delete(ctx, env.Await(ctx, 1, check.NodeClaims(pool).In(karpenter.Initialized))[0])
}

// release lets a pod end that was made to linger, once it was told to end and
// has stayed for a while.
func release(ctx context.Context, env *e2e.Env, app *fixtures.Workload, after time.Duration) {
	pod := env.Await(ctx, 1, check.PodsOf(app).Deleting())[0]
	env.Observe(ctx, after)
	env.RemoveFinalizers(ctx, pod)
}

// gone checks that the pool's nodes go once they are being drained. Others may come
// in their place, for pods that wait to be evicted.
func gone(pool *fixtures.Pool) check.Response {
	return check.LeadsTo(check.AtLeast(1, check.Nodes(pool).Deleting()), check.None(check.Nodes(pool).Deleting()))
}
