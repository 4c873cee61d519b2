package conversion

import (
	"context"
	"fmt"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
	"github.com/plumbline-e2e/plumbline/fixtures"
)

// pods is the number of pods that move. Each has its own node.
const pods = 2

// olderPool builds a v1beta1 pool whose nodes are not disrupted but by the spec, and all at once.
func olderPool() *fixtures.Raw {
	return fixtures.RawNodePool().V1Beta1().Write("spec.disruption",
		"{consolidationPolicy: WhenEmpty, consolidateAfter: Never, expireAfter: Never, budgets: [{nodes: 100%}]}")
}

// newerPool builds a v1 pool that says the same as olderPool.
func newerPool() *fixtures.Raw {
	return fixtures.RawNodePool().
		Write("spec.disruption", "{consolidationPolicy: WhenEmpty, consolidateAfter: Never, budgets: [{nodes: 100%}]}").
		Write("spec.template.spec.expireAfter", "Never")
}

// storeAsV1Beta1 stores a pool, its only NodeClaim and its NodeClass as releases before 1.0 do.
func storeAsV1Beta1(ctx context.Context, env *e2e.Env, pool *fixtures.Raw) {
	nodeClaim := env.Await(ctx, 1, check.NodeClaims(pool))[0]
	env.StoreAs(ctx, karpenter.V1Beta1)
	env.Annotate(ctx, pool, fixtures.Key("stored"), karpenter.V1Beta1)
	env.Annotate(ctx, nodeClaim, fixtures.Key("stored"), karpenter.V1Beta1)
	env.Annotate(ctx, env.NodeClass(ctx), fixtures.Key("stored"), karpenter.V1Beta1)
	env.AwaitStored(ctx, karpenter.NodePools.Version, karpenter.V1Beta1)
}

// fleet returns a workload that runs on a v1beta1 pool and on its v1 successor.
func fleet() (app *fixtures.Workload, from, to *fixtures.Raw) {
	app = fixtures.Deployment(pods).OnePodPerNode()
	label := fmt.Sprintf("{%s: %s}", fixtures.Key("fleet"), app.GetName())
	return app.Select(fixtures.Key("fleet"), app.GetName()),
		olderPool().Write("spec.template.metadata.labels", label), newerPool().Write("spec.template.metadata.labels", label)
}

// movesAll claims that all pods run on the successor, and no node of the pool before is left.
func movesAll(app *fixtures.Workload, from, to *fixtures.Raw) check.Claim {
	return check.AllOf(check.Exactly(pods, check.RunningPods(app).On(check.ReadyNodes(to))), check.None(check.Nodes(from)))
}
