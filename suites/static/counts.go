package static

import (
	"context"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/e2e/history"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
	"github.com/plumbline-e2e/plumbline/fixtures"
	"github.com/plumbline-e2e/plumbline/providers"
)

// gate is the feature gate that lets Karpenter look after static pools.
const gate = "StaticCapacity"

// settled is how long a pool is given to do what it must not: static pools act
// on each change of their own and of their NodeClaims at once.
const settled = 5 * time.Second

// rounds is how long drift is given that must wait: Karpenter looks for nodes to
// disrupt every ten seconds. drifted bounds a spec in which several drift, one
// after the other.
const (
	rounds  = 20 * time.Second
	drifted = 4 * time.Minute
)

// racingReplacements is why specs of static drift fail now and then.
var racingReplacements = []e2e.Known{{
	Releases: ">=1.9.0 <=1.15.0", // seen in v1.9.0 and v1.15.0
	Issue:    "https://github.com/kubernetes-sigs/karpenter/issues/3250",
	Reason:   "a static pool takes the replacement of a drifted node for one node too many, and deletes it in the middle of its launch",
	Breaks: []string{
		`^waited for \d+ (nodes?|NodeClaims?) of pool`,
		// Some providers leave the replacement's node behind then, as a known failure of theirs says.
		"instances, NodeClaims, nodes and pods come and go together", "left behind: Node ",
	},
	Sometimes: true,
}}

func needs() []providers.Capability {
	return []providers.Capability{providers.NodePools, providers.StaticCapacity}
}

// static builds a pool of that many nodes.
func static(replicas int) *fixtures.Pool { return fixtures.NodePool().Replicas(replicas) }

// retire takes a static pool's nodes away when a spec is through with it. The
// clean-up deletes NodePools and NodeClaims at the same moment, and a pool that
// Karpenter doesn't know to be deleted yet has them replaced.
func retire(ctx context.Context, env *e2e.Env, pool *fixtures.Pool) {
	env.Change(ctx, pool.Replicas(0))
	env.Await(ctx, 0, check.NodeClaims(pool))
}

// rest waits until a pool's old nodes are gone, and a moment more: retired at once,
// the pool might have a NodeClaim deleted in the middle of its launch.
func rest(ctx context.Context, env *e2e.Env, pool *fixtures.Pool, old *history.World) {
	env.Await(ctx, 0, check.Nodes(pool).Old(old))
	env.Await(ctx, 0, check.NodeClaims(pool).Old(old))
	env.Watch(ctx, settled)
}

// registered counts the nodes of a pool that Karpenter has registered.
func registered(pool *fixtures.Pool) check.Count {
	return check.NodesWith(pool, check.Labeled(karpenter.RegisteredLabel, "true"), "that are registered")
}

// staying counts the NodeClaims of a pool that nobody has begun to delete.
func staying(pool *fixtures.Pool) check.Count {
	return check.ClaimsWith(pool, func(claim *unstructured.Unstructured) bool {
		return !karpenter.Deleting(claim)
	}, "that stay")
}
