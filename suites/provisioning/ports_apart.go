package provisioning

import (
	"context"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/fixtures"
)

// Pods of one batch that want the same host port get a node each, and no pod is refused.
// The port is free on every new node. A refused pod waits for the next batch and causes
// alarms.
//
// Source: hostPort of the Pod API;
// https://github.com/kubernetes-sigs/karpenter/pull/3022.
var _ = Suite.Add(e2e.Spec{
	Name: "gives pods of one batch that want the same host port a node each",
	Known: []e2e.Known{{
		Releases: ">=1.4.0 <=1.12.1", // seen in v1.6.4, v1.9.0 and v1.12.1
		Issue:    "https://github.com/kubernetes-sigs/karpenter/pull/3022",
		Reason: "pods of one batch that want the same port are refused, " +
			"as if their new nodes had one set of ports together",
		Breaks: []string{"^always no events FailedScheduling"},
	}},
	Run: func(ctx context.Context, env *e2e.Env) {
		pool := fixtures.NodePool()
		app := fixtures.Deployment(3).On(pool).HostPort(port)

		before := env.Mark()
		env.Create(ctx, pool, app)
		env.Await(ctx, 3, check.RunningPods(app))

		env.Expect(env.Since(before), check.Always(check.AtMost(3, check.NodeClaims(pool))),
			check.Always(check.None(noFitEvents(app).AmongObjects(check.PodsOf(app)))))
	},
})
