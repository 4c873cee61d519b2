package controls

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

// A pod with a do-not-disrupt duration keeps its drifted node for that long after the
// pod's start, and no longer. So a job that hangs can't keep a node unpatched forever.
// Here another pool drifts meanwhile.
//
// Source: annotation karpenter.sh/do-not-disrupt with a duration;
// designs/do-not-disrupt-grace-period.md.
var _ = Suite.Add(e2e.Spec{
	Name:  "of a pod last as long as its annotation says, and no longer",
	Since: e2e.Since{Karpenter: "1.12"},
	Run: func(ctx context.Context, env *e2e.Env) {
		guarded, free := fixtures.NodePool(), fixtures.NodePool()
		app := fixtures.Pod().On(guarded).Annotate(karpenter.DoNotDisruptAnnotation, protection.String())
		leaving := fixtures.Deployment(1).On(free)
		env.Launch(ctx, 1, guarded, app)
		env.Launch(ctx, 1, free, leaving)

		before := env.Mark()
		env.Change(ctx, guarded.NewTemplate())
		env.Await(ctx, 1, check.DriftedNodeClaims(guarded))
		env.Change(ctx, free.NewTemplate())
		env.Await(ctx, 1, check.RunningPods(leaving).On(check.ReplacedNodes(free, before)))
		env.Await(ctx, 0, check.Nodes(guarded).Old(before))

		env.Expect(env.Since(before), check.ActsOnDrift(guarded), check.ActsOnDrift(free),
			check.Whenever(check.Enters(check.DisruptedNodes(guarded)), "its pod's time is just over",
				check.ForAny(justOver(app))))
	},
})

// protection is how long the pod must not be disrupted. It is longer than the other pool needs
// and than nominations protect any node.
const protection = karpenter.NominationOver + 24*time.Second

// justOver claims that a workload's pod has just run for the time of its protection.
// Disruption rounds are ten seconds apart, and times in the API are whole seconds.
func justOver(app *fixtures.Workload) check.Claim {
	words := "the protection of the pods of " + app.GetName() + " is just over"
	return check.That(words, func(w *history.World) (ok, exercised bool, standing string) {
		for _, pod := range check.RunningPods(app).Of(w) {
			age := w.Time().Sub(startTime(pod.Unstructured()))
			ok := age >= protection-time.Second && age <= protection+30*time.Second
			return ok, true, fmt.Sprintf("%s, which is %s old", check.Describe(pod), age)
		}
		return false, true, "no such pod runs"
	}, karpenter.Pods)
}

// startTime returns a pod's startTime (core/v1 PodStatus).
func startTime(pod *unstructured.Unstructured) time.Time {
	text, _, _ := unstructured.NestedString(pod.Object, "status", "startTime")
	at, _ := time.Parse(time.RFC3339, text) // zero if it is missing: very old
	return at
}
