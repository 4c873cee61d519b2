package consolidation

import (
	"context"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/e2e/history"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
	"github.com/plumbline-e2e/plumbline/fixtures"
)

// A NodeClaim says when a pod last came to its node or left it: consolidateAfter is
// counted from then, and whoever wonders why a node is still there looks there first.
// Events that follow each other within ten seconds may be told as one, so that those
// here are further apart.
//
// Source: status.lastPodEventTime of the NodeClaim API.
var _ = Suite.Add(e2e.Spec{
	Name: "shows on NodeClaims when a pod last came or went",
	Run: func(ctx context.Context, env *e2e.Env) {
		const apart = karpenter.PodEventMerge + time.Second
		pool := fixtures.NodePool()
		first, app := fixtures.Pod().On(pool), fixtures.Deployment(1).On(pool)
		before := env.Mark()
		env.Create(ctx, pool, first)
		pod := env.Await(ctx, 1, check.RunningPods(first))[0]
		env.Observe(ctx, apart)
		one := env.Await(ctx, 1, check.NodeClaims(pool))[0]
		env.Create(ctx, app)
		env.Await(ctx, 1, check.RunningPods(app))
		env.Observe(ctx, apart)
		two := env.Await(ctx, 1, check.NodeClaims(pool))[0]
		env.PatchStatus(ctx, pod, succeeded)
		env.Observe(ctx, apart)

		env.Expect(env.Since(before),
			check.Within(apart, check.LeadsTo(check.AtLeast(1, check.BoundPods(first)), tells(pool, nil))),
			check.Within(apart, check.LeadsTo(check.AtLeast(1, check.BoundPods(app)), tells(pool, one))),
			check.Within(apart, check.LeadsTo(check.AtLeast(1, ended(first)), tells(pool, two))))
	},
})

// tells claims that the NodeClaim of a pool tells of a pod that came or went since it
// was as it was then; nil is before there was any.
func tells(pool *fixtures.Pool, then *history.Object) check.Claim {
	var last time.Time
	if then != nil {
		last = lastPodEvent(then.Unstructured())
	}
	words := "that tell of a pod after " + last.Format(time.TimeOnly)
	return check.AtLeast(1, check.NodeClaims(pool).With(words, func(nodeClaim *unstructured.Unstructured) bool {
		return lastPodEvent(nodeClaim).After(last)
	}))
}

// lastPodEvent is when a pod last came to the node of a NodeClaim or left it, by the
// NodeClaim's status, in UTC; zero if it doesn't say.
func lastPodEvent(nodeClaim *unstructured.Unstructured) time.Time {
	text, _, _ := unstructured.NestedString(nodeClaim.Object, "status", "lastPodEventTime")
	t, err := time.Parse(time.RFC3339, text)
	if err != nil {
		return time.Time{}
	}
	return t.UTC()
}
