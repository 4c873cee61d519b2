package settings

import (
	"context"

	corev1 "k8s.io/api/core/v1"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
	"github.com/plumbline-e2e/plumbline/fixtures"
)

// With the preference policy Ignore, Karpenter doesn't spread pods that the scheduler may place
// anyway. They get one node. By default each of them would get a node.
//
// Source: https://karpenter.sh/docs/reference/settings, PREFERENCE_POLICY; whenUnsatisfiable of
// the Pod API, ScheduleAnyway.
var _ = Suite.Add(e2e.Spec{
	Name:  "packs pods that need not be spread on one node if preferences are ignored",
	Since: e2e.Since{Karpenter: "1.5"},
	Run: func(ctx context.Context, env *e2e.Env) {
		env.Configure(ctx, e2e.Settings{karpenter.PreferencePolicy: "Ignore"})
		pool := fixtures.NodePool()
		app := fixtures.Deployment(3).On(pool).Spread(fixtures.TopologySpread(corev1.LabelHostname).ScheduleAnyway())

		before := env.Mark()
		env.Create(ctx, pool, app)
		env.Await(ctx, 3, check.RunningPods(app))

		env.Expect(env.Since(before), check.Always(check.AtMost(1, check.NodeClaims(pool))))
	},
})
