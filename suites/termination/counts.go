package termination

import (
	"context"
	"time"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/e2e/history"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
	"github.com/plumbline-e2e/plumbline/fixtures"
)

// settled is how long a node is watched that must not go yet. Karpenter looks at
// a node that it drains every second, and drains it for five seconds at least.
const settled = 7 * time.Second

// begin creates a pool and has it launch a node, on which a spec's pods come to run
// when it is at work. One that is bound in the moment in which the taint
// karpenter.sh/unregistered goes may be evicted for it, by a Kubernetes that still
// sees the taint (https://github.com/kubernetes/kubernetes/issues/119862).
func begin(ctx context.Context, env *e2e.Env, pool *fixtures.Pool) {
	env.Create(ctx, pool, fixtures.Deployment(1).On(pool))
	env.Await(ctx, 1, in(pool, karpenter.Initialized))
}

// end deletes the only NodeClaim of a pool, as an administrator would who wants its
// node gone.
func end(ctx context.Context, env *e2e.Env, pool *fixtures.Pool) {
	env.Delete(ctx, existing(env.Await(ctx, 1, in(pool, karpenter.Initialized))[0]))
}

// existing refers to an object that no spec has built: to be deleted.
func existing(o *history.Object) fixtures.Object {
	return fixtures.Existing(o.Unstructured().GetAPIVersion(), o.Unstructured().GetKind(), o.Name)
}

// release lets a pod end that was made to linger, once it was told to end and
// has stayed for a while.
func release(ctx context.Context, env *e2e.Env, app *fixtures.Workload, after time.Duration) {
	pod := env.Await(ctx, 1, ending(app))[0]
	env.Watch(ctx, after)
	free(ctx, env, pod)
}

// free takes the finalizer from a pod that was made to linger.
func free(ctx context.Context, env *e2e.Env, pod *history.Object) {
	env.Patch(ctx, karpenter.Pods, pod.Namespace, pod.Name, `{"metadata":{"finalizers":null}}`)
}

// ending counts the pods of a workload that were told to end and are still there.
func ending(app *fixtures.Workload) check.Count {
	return check.PodsOf(app).With("that were told to end", karpenter.Deleting)
}

// draining counts the nodes of a pool that are being deleted: Karpenter drains
// them.
func draining(pool *fixtures.Pool) check.Count {
	return check.NodesWith(pool, karpenter.Deleting, "that are drained")
}

// in counts the NodeClaims of a pool that have this condition with status True.
func in(pool *fixtures.Pool, condition string) check.Count {
	return check.ClaimsWith(pool, check.True(condition), "that are "+condition)
}

// gone checks that the pool's nodes go once they are being drained. Others may come
// in their place, for pods that wait to be evicted.
func gone(pool *fixtures.Pool) check.Response {
	return check.LeadsTo(check.AtLeast(1, draining(pool)), check.None(draining(pool)))
}

// comesWith checks that a condition of the pool's NodeClaim comes only together
// with an earlier one, or after it.
func comesWith(pool *fixtures.Pool, later, earlier string) check.Check {
	return check.Always(check.When(check.AtLeast(1, in(pool, later)), check.Exactly(1, in(pool, earlier))))
}
