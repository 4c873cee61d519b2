package expiration

import (
	"context"
	"time"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/fixtures"
)

// month is the default of expireAfter. nearly is how long the nodes are left alone.
const (
	month  = 720 * time.Hour
	nearly = month - 5*time.Minute
)

// A node whose expireAfter is thirty days, as by default, lives that long and is then
// replaced. Until then it exists and is Ready, and its pods run on it. Events that come
// only after days must not affect nodes. An example is the renewal of anything that
// Karpenter was given for an hour.
//
// Source: spec.template.spec.expireAfter of the NodePool API, whose default is 720h.
var _ = Suite.Add(e2e.Spec{
	Name:   "comes after thirty days and not before",
	Within: month + time.Hour,
	Labels: []string{"leaps"},
	Run: func(ctx context.Context, env *e2e.Env) {
		pool := fixtures.NodePool().ExpireAfter("720h")
		app := fixtures.Deployment(2).On(pool).OnePodPerNode()
		// Kubernetes may evict pods that are bound while Karpenter registers their node
		// (https://github.com/kubernetes/kubernetes/issues/119862). So others launch the nodes.
		env.Create(ctx, pool, fixtures.Deployment(2).On(pool).OnePodPerNode())
		env.Await(ctx, 2, check.InitializedNodeClaims(pool))
		env.Create(ctx, app)
		env.Await(ctx, 2, check.RunningPods(app).On(check.ReadyNodes(pool)))

		before := env.Mark()
		young := env.Observe(ctx, nearly)
		env.Await(ctx, 2, check.RunningPods(app).On(check.ReplacedNodes(pool, before)))
		env.Await(ctx, 0, check.Nodes(pool).Old(before))

		env.Expect(young,
			check.Always(check.Exactly(2, check.ReadyNodes(pool).Old(before))),
			check.Always(check.Exactly(2, check.RunningPods(app).Old(before))),
			check.Always(check.Exactly(2, check.NodeClaims(pool))))
		env.Expect(env.Since(before), check.Always(check.Each(
			check.NodeClaims(pool).Deleting(), "are thirty days old", check.DeletedAt(month, time.Minute))))
	},
})
