package provisioning

import (
	"context"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/fixtures"
)

// A pod with a node selector gets a node of the pool whose template has the label. No
// other pool launches anything. Teams that keep to their own nodes rely on it.
//
// Source: spec.template.metadata.labels of the NodePool API;
// https://karpenter.sh/docs/concepts/scheduling, "User-Defined Labels".
var _ = Suite.Add(e2e.Spec{
	Name: "honours node selectors",
	Run: func(ctx context.Context, env *e2e.Env) {
		team := fixtures.Key("team")
		red, blue := fixtures.NodePool(), fixtures.NodePool()
		forBlue := fixtures.Deployment(1).Select(team, blue.GetName())
		forRed := fixtures.Deployment(1).Select(team, red.GetName())

		before := env.Mark()
		env.Create(ctx, red.Label(team, red.GetName()), blue.Label(team, blue.GetName()), forBlue)
		env.Await(ctx, 1, check.RunningPods(forBlue))
		onlyBlue := env.Since(before)
		env.Create(ctx, forRed)
		env.Await(ctx, 1, check.RunningPods(forRed))
		env.Await(ctx, 1, check.ReadyNodes(red))

		env.Expect(onlyBlue, passedOver(red, forBlue))
		env.Expect(env.Since(before), check.Always(check.AtMost(1, check.NodeClaims(blue))))
	},
})
