package termination

import (
	"context"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
	"github.com/plumbline-e2e/plumbline/fixtures"
)

// Karpenter tells a pod that is ending already to end by the node's deadline. Otherwise
// the instance ends in the middle of the pod's work.
// Here a user has deleted a pod with a grace period of an hour before its node.
//
// Source: designs/nodeclaim-termination-grace-period.md;
// https://github.com/kubernetes-sigs/karpenter/pull/2316.
var _ = Suite.Add(e2e.Spec{
	Name: "hurries a pod that is ending too slowly for the deadline",
	Known: []e2e.Known{{
		Releases: ">=1.0.0 <1.6.0", // seen in v1.5.5
		Issue:    "https://github.com/kubernetes-sigs/karpenter/pull/2316",
		Reason:   "a pod that is ending keeps its grace period, however soon its node must go",
		Breaks:   []string{"^waited for 1 pod", "drains end by their deadline, and evict pods in their order"},
	}},
	Run: func(ctx context.Context, env *e2e.Env) {
		pool := fixtures.NodePool().TerminationGracePeriod("10s")
		app := fixtures.Pod().On(pool).GracePeriod(3600)
		launchNode(ctx, env, pool)
		env.Create(ctx, app)
		env.Await(ctx, 1, check.RunningPods(app))
		env.PauseKubelets(ctx) // they would end the pod at once
		env.Delete(ctx, app)
		env.Await(ctx, 1, check.PodsOf(app).Deleting())

		before := env.Mark()
		deleteNodeClaim(ctx, env, pool)
		hurried := check.PodsOf(app).With("that must end within ten seconds", endsWithin(10))
		env.Await(ctx, 1, hurried)
		env.ResumeKubelets(ctx)
		env.Await(ctx, 0, check.Nodes(pool).Old(before))

		env.Expect(env.Since(before), check.Within(karpenter.DrainPolled,
			check.LeadsTo(check.AtLeast(1, check.Nodes(pool).Deleting()), check.AtLeast(1, hurried))))
	},
})

// endsWithin matches pods that have been told to end within a grace period, in seconds.
func endsWithin(seconds int64) check.Predicate {
	return func(pod *unstructured.Unstructured) bool {
		grace := pod.GetDeletionGracePeriodSeconds()
		return grace != nil && *grace <= seconds
	}
}
