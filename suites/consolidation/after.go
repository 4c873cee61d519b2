package consolidation

import (
	"context"
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/e2e/history"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
	"github.com/plumbline-e2e/plumbline/fixtures"
)

// A node becomes consolidatable when no pod was added or removed for consolidateAfter.
// Each such event starts the time again, so that no node is removed between two jobs.
// Here a pod is added, and it ends after the time has passed once.
//
// Source: spec.disruption.consolidateAfter; condition Consolidatable and
// status.lastPodEventTime of the NodeClaim API.
var _ = Suite.Add(e2e.Spec{
	Name: "waits until no pod has come or gone for consolidateAfter",
	Run: func(ctx context.Context, env *e2e.Env) {
		const after = 12 * time.Second
		pool := fixtures.NodePool()
		app := fixtures.Pod().On(pool)
		env.Create(ctx, pool, app)
		pod := env.Await(ctx, 1, check.RunningPods(app))[0]

		before := env.Mark()
		env.Change(ctx, pool.ConsolidationPolicy(fixtures.WhenEmpty).ConsolidateAfter(after.String()))
		env.Await(ctx, 1, check.NodeClaims(pool).In(karpenter.Consolidatable))
		env.EndPod(ctx, pod)
		env.Await(ctx, 0, check.Nodes(pool))

		empty := check.AllOf(check.AtLeast(1, check.SucceededPods(app)), check.AtLeast(1, check.ReadyNodes(pool)))
		env.Expect(env.Since(before),
			check.Whenever(check.Enters(check.NodeClaims(pool).In(karpenter.Consolidatable)),
				"it has been left alone for "+after.String(), leftAlone(after)),
			check.LeadsTo(empty, check.AllOf(empty, check.None(check.NodeClaims(pool).In(karpenter.Consolidatable)))))
	},
})

// leftAlone claims that a NodeClaim became consolidatable no earlier than some time after
// its last pod event. Both times are from the NodeClaim's status, in whole seconds.
func leftAlone(d time.Duration) func(*unstructured.Unstructured) check.Claim {
	return func(nodeClaim *unstructured.Unstructured) check.Claim {
		words := fmt.Sprintf("it has had its last pod event, and that is %s ago", d)
		return check.That(words, func(*history.World) (ok, exercised bool, standing string) {
			last := lastPodEvent(nodeClaim)
			since, _ := karpenter.Condition(nodeClaim, karpenter.Consolidatable)
			standing = fmt.Sprintf("lastPodEventTime %s, consolidatable since %s", last, since.LastTransitionTime.UTC())
			return !last.IsZero() && since.LastTransitionTime.Sub(last) >= d, true, standing
		}, karpenter.NodeClaims)
	}
}
