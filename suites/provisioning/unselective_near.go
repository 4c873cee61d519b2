package provisioning

import (
	"context"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/fixtures"
)

// Required pod affinity without a label selector is about no pods, so no node meets it. The
// scheduler places the pod nowhere. Karpenter must not launch a node for it, which would
// cost money and stay empty.
//
// Source: labelSelector of podAffinity, of the Pod API: null matches no pods;
// https://karpenter.sh/docs/concepts/scheduling, "Pod affinity/anti-affinity".
var _ = Suite.Add(e2e.Spec{
	Name:  "launches nothing for a pod whose affinity selects no pods",
	Known: countsWithoutSelector("^always no NodeClaims", "launched nodes take pods that they were launched for"),
	Run: func(ctx context.Context, env *e2e.Env) {
		there, here := racks(), racks()
		others := fixtures.Deployment(1).On(there)
		hopeless := fixtures.Deployment(1).On(here).Near(fixtures.PodTerm(rack))
		env.Create(ctx, there, others)
		env.Await(ctx, 1, check.RunningPods(others))

		before := env.Mark()
		env.Create(ctx, here, hopeless)
		env.AwaitAtLeast(ctx, 1, decisions(hopeless, here, before))

		env.Expect(env.Since(before), passedOver(here, hopeless))
	},
})
