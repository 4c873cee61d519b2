package provisioning

import (
	"context"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/fixtures"
)

// Karpenter follows the preference of a pod that must be near another pod of its batch. It looks
// at the larger pod first, and finds nothing that this one could be near. When it looks at it
// again, the other one has its node, and the preference counts as before.
//
// Source: https://karpenter.sh/docs/concepts/scheduling, "Preferences"; podAffinity and
// preferredDuringSchedulingIgnoredDuringExecution of the Pod API; Karpenter:
// pkg/controllers/provisioning/scheduling/scheduler.go, Solve.
var _ = Suite.Add(e2e.Spec{
	Name: "follows the preference of a pod that must be near another one of its batch",
	Run: func(ctx context.Context, env *e2e.Env) {
		heavier, wished := rivalPools()
		group := fixtures.Key("group")
		other := fixtures.Deployment(1).Select(group, heavier.GetName()).HostPort(port)
		app := fixtures.Deployment(1).Select(group, heavier.GetName()).HostPort(port).CPU("500m").
			PodAffinity(other, rack).Prefer(1, size, fixtures.In, "3")

		before := env.Mark()
		env.Create(ctx, heavier.Label(size, "5").Label(rack, "a"), wished.Label(size, "3").Label(rack, "a"))
		env.Create(ctx, other, app)
		env.Await(ctx, 1, check.RunningPods(other))
		env.Await(ctx, 1, check.RunningPods(app))

		env.Expect(env.Since(before), check.Always(check.AtMost(1, check.NodeClaims(heavier))),
			check.EndsWith(app, check.Exactly(1, check.ReadyNodes(wished))))
	},
})
