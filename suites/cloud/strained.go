package cloud

import (
	"context"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
	"github.com/plumbline-e2e/plumbline/fixtures"
	"github.com/plumbline-e2e/plumbline/providers"
)

// A new pod gets its node, one NodeClaim and one instance even if the cloud is busy. The
// cloud may refuse calls because there are too many, be slow, or return lists that are
// some seconds old. This costs only time. The provider does not give up a running
// instance because a list lacks it. Clouds are like this on every busy day.
//
// Source: pkg/controllers/nodeclaim/garbagecollection, which compares NodeClaims with the
// instances listed; pkg/controllers/nodeclaim/lifecycle/launch.go, "eventual consistency".
var _ = e2e.Table(Suite, strains(), func(s strain) e2e.Spec {
	return e2e.Spec{
		Name:   "neither loses nor duplicates a node when the cloud " + s.how,
		Hooks:  []providers.HookName{s.hook, providers.ClearFailures, providers.ListInstances},
		Within: 8 * time.Minute,
		Run: func(ctx context.Context, env *e2e.Env) {
			pool := fixtures.NodePool()
			app := fixtures.Deployment(1).On(pool)
			late := fixtures.Deployment(1).On(pool).PodAntiAffinity(app, corev1.LabelHostname)
			instances := env.FollowInstances(ctx)
			env.Launch(ctx, 1, pool, app)

			before := env.Mark()
			env.Hook(ctx, s.hook, s.about)
			env.Create(ctx, late)
			env.Await(ctx, 1, check.RunningPods(late))
			env.Observe(ctx, karpenter.InstanceComparison+30*time.Second)
			env.Hook(ctx, providers.ClearFailures)
			env.Observe(ctx, karpenter.PodsRetried)

			launched := check.AtMost(2, instances)
			env.Expect(env.Since(before),
				check.Always(launched), launched.Reached(),
				check.Always(check.AtMost(2, check.NodeClaims(pool))),
				check.Always(check.None(check.NodeClaims(pool).Deleting())),
				check.Always(check.Exactly(1, check.RunningPods(app))))
		},
	}
})

// strain is a way in which a cloud is slow or late, but not wrong.
type strain struct {
	how   string
	hook  providers.HookName
	about providers.HookValues
}

func strains() map[string]strain {
	return map[string]strain{
		"throttled":   {"throttles calls", providers.Throttle, providers.HookValues{Count: 20}},
		"slow":        {"responds slowly", providers.SlowDown, providers.HookValues{}},
		"stale-lists": {"returns stale lists", providers.StaleLists, providers.HookValues{}},
	}
}
