package drift

import (
	"context"
	"time"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
	"github.com/plumbline-e2e/plumbline/fixtures"
	"github.com/plumbline-e2e/plumbline/providers"
)

// rested is longer than Karpenter leaves a node alone in any case: after it has
// meant a pod for it, for twice the longest batch (20 s by default).
const rested = 21 * time.Second

// A drifted node is left alone while a pod on it must not be disrupted, unless a
// terminationGracePeriod bounds its drain: hours of work would be lost, or the
// node would stand half drained for as long as the pod runs. Another pool drifts
// meanwhile, and so does this one once the pod says so no longer.
//
// Source: annotation karpenter.sh/do-not-disrupt;
// https://karpenter.sh/docs/concepts/disruption, "Pod-Level Controls".
var _ = Suite.Add(e2e.Spec{
	Name:  "leaves nodes alone whose pods must not be disrupted",
	Needs: []providers.Capability{providers.NodePools},
	Run: func(ctx context.Context, env *e2e.Env) {
		held, free := fixtures.NodePool(), fixtures.NodePool()
		holding := fixtures.Pod().On(held).Annotate(karpenter.DoNotDisruptAnnotation, "true")
		freely := fixtures.Deployment(1).On(free)
		env.Create(ctx, held, free, holding, freely)
		pod := env.Await(ctx, 1, check.RunningPods(holding))[0]
		env.Await(ctx, 1, check.RunningPods(freely))

		before, old := env.Now(), env.World()
		env.Change(ctx, held.NewTemplate())
		env.Await(ctx, 1, check.DriftedClaims(held))
		env.Watch(ctx, rested)
		env.Change(ctx, free.NewTemplate())
		env.Await(ctx, 1, check.RunningPods(freely).On(check.ReplacedNodes(free, old)))
		env.Expect(env.Since(before),
			check.Always(check.When(check.AtLeast(1, check.DriftedClaims(held)), check.None(check.DisruptedNodes(held)))))

		env.Patch(ctx, karpenter.Pods, pod.Namespace, pod.Name, `{"metadata":{"annotations":null}}`)
		env.Await(ctx, 0, check.Nodes(held).Old(old))
	},
})
