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

// A NodeClaim shows when a pod was last added to its node or removed from it.
// consolidateAfter counts from then, so users look there first when a node is still
// there. Events within ten seconds may be reported as a single event, so the events here
// are further apart.
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
		env.EndPod(ctx, pod)
		env.Observe(ctx, apart)

		env.Expect(env.Since(before),
			check.Within(apart, check.LeadsTo(check.AtLeast(1, check.BoundPods(first)), showsLaterPodEvent(pool, nil))),
			check.Within(apart, check.LeadsTo(check.AtLeast(1, check.BoundPods(app)), showsLaterPodEvent(pool, one))),
			check.Within(apart, check.LeadsTo(check.AtLeast(1, check.SucceededPods(first)), showsLaterPodEvent(pool, two))))
	},
})

// showsLaterPodEvent claims that the pool's NodeClaim shows a later pod event than then does.
func showsLaterPodEvent(pool *fixtures.Pool, then *history.Object) check.Claim {
	return check.AtLeast(1, withLaterPodEvent(pool, then))
}

// withLaterPodEvent counts the pool's NodeClaims that show a later pod event than then does. If then is
// nil, any pod event is later.
func withLaterPodEvent(pool *fixtures.Pool, then *history.Object) check.Count {
	var last time.Time
	if then != nil {
		last = lastPodEvent(then.Unstructured())
	}
	words := "that tell of a pod after " + last.Format(time.TimeOnly)
	return check.NodeClaims(pool).With(words, func(nodeClaim *unstructured.Unstructured) bool {
		return lastPodEvent(nodeClaim).After(last)
	})
}

// lastPodEvent returns a NodeClaim's lastPodEventTime in UTC, or the zero time if the
// status has none.
func lastPodEvent(nodeClaim *unstructured.Unstructured) time.Time {
	text, _, _ := unstructured.NestedString(nodeClaim.Object, "status", "lastPodEventTime")
	t, err := time.Parse(time.RFC3339, text)
	if err != nil {
		return time.Time{}
	}
	return t.UTC()
}
