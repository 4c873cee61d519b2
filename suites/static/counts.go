package static

import (
	"context"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
	"github.com/plumbline-e2e/plumbline/fixtures"
)

// gate is the feature gate that lets Karpenter look after static pools.
const gate = "StaticCapacity"

// settled is how long a pool is given to do what it must not: static pools act
// on each change of their own and of their NodeClaims at once.
const settled = 5 * time.Second

// static builds a static pool whose instance type is settled: that of a node
// which an ordinary pool gets for a small pod. A NodeClaim that comes of pods
// lists the types that would do; one of a static pool has the pool's
// requirements and no others, and not every provider can choose from all of its
// types.
func static(ctx context.Context, env *e2e.Env, replicas int) *fixtures.Pool {
	ordinary := fixtures.NodePool()
	env.Create(ctx, ordinary, fixtures.Deployment(1).On(ordinary))
	node := env.Await(ctx, 1, check.ReadyNodes(ordinary))[0]
	instanceType := karpenter.Label(node.Unstructured(), corev1.LabelInstanceTypeStable)
	return fixtures.NodePool().Replicas(replicas).Require(corev1.LabelInstanceTypeStable, fixtures.In, instanceType)
}

// retire takes a static pool's nodes away when a spec is through with it. The
// clean-up deletes NodePools and NodeClaims at the same moment, and a pool that
// Karpenter doesn't know to be deleted yet has them replaced.
func retire(ctx context.Context, env *e2e.Env, pool *fixtures.Pool) {
	env.Change(ctx, pool.Replicas(0))
	env.Await(ctx, 0, check.NodeClaims(pool))
}

// initialized counts the NodeClaims of a pool whose nodes are ready for work.
// Only then do specs go on: what becomes of one that is deleted in the middle of
// its launch is another promise.
func initialized(pool *fixtures.Pool) check.Count {
	return check.ClaimsWith(pool, check.True(karpenter.Initialized), "that are initialized")
}

// staying counts the NodeClaims of a pool that nobody has begun to delete.
func staying(pool *fixtures.Pool) check.Count {
	return check.ClaimsWith(pool, func(claim *unstructured.Unstructured) bool {
		return !karpenter.Deleting(claim)
	}, "that stay")
}
