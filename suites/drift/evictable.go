package drift

import (
	"context"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/fixtures"
)

// A pod that Kubernetes evicts at any time holds no drifted node, although its PodDisruptionBudget
// allows no disruption just then. Such a budget protects pods that serve. It lets go of a pod that
// hasn't started, and of one that isn't ready while enough others are. An application that can't
// start, or one broken pod of several, would keep its node outdated until somebody repairs it.
//
// Source: https://kubernetes.io/docs/tasks/run-application/configure-pdb, "Unhealthy Pod Eviction
// Policy": IfHealthyBudget, the default, and "Pods in Pending, Succeeded or Failed phase are always
// considered for eviction".
var _ = e2e.Table(Suite, map[string]evictable{
	"unready":  {"isn't ready while enough others are", 3, 2, unready},
	"starting": {"hasn't started", 1, 1, starting},
}, func(e evictable) e2e.Spec {
	return e2e.Spec{
		Name: "replaces the node of a pod that " + e.what + ", in spite of its budget",
		Known: []e2e.Known{{
			Releases: ">=1.0.0 <=1.15.0", // seen in v1.14.3 and v1.15.0; the source is the same in v1.0.8
			Issue:    e2e.Finding("karpenter-budgets-that-let-pods-go"),
			Reason:   "of PodDisruptionBudgets, only AlwaysAllow and the number of allowed disruptions are read",
			Breaks:   []string{"^waited for"},
		}},
		Run: func(ctx context.Context, env *e2e.Env) {
			pool := fixtures.NodePool()
			app := fixtures.Deployment(e.pods).On(pool).OnePodPerNode()
			env.Create(ctx, pool, app.MinAvailable(e.available), app)
			env.PatchStatus(ctx, env.Await(ctx, e.pods, check.RunningPods(app))[0], e.status)
			env.Await(ctx, e.pods, check.InitializedNodeClaims(pool))

			before := env.Mark()
			env.Change(ctx, pool.NewTemplate())
			env.Await(ctx, e.pods, check.RunningPods(app).On(check.ReplacedNodes(pool, before)))
			env.Await(ctx, 0, check.Nodes(pool).Old(before))

			env.Expect(env.Since(before), check.ActsOnDrift(pool))
		},
	}
})

// starting is a kubelet's status patch of a pod whose containers don't start.
const starting = `{"status":{"phase":"Pending","conditions":[
	{"type":"PodScheduled","status":"True"}, {"type":"Ready","status":"False"}]}}`

// evictable is a pod, one of several of which some are to be available, with a kubelet's status patch
// that lets it be evicted.
type evictable struct {
	what            string
	pods, available int
	status          string
}
