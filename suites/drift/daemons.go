package drift

import (
	"context"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
	"github.com/plumbline-e2e/plumbline/fixtures"
)

// During a drain, Karpenter evicts daemons after all other pods. These need their
// network, volumes and logs to the end. Here the other pod stays while it must not be
// disrupted, and then goes.
//
// Source: designs/nodeclaim-termination-grace-period.md;
// https://kubernetes.io/docs/concepts/cluster-administration/node-shutdown.
var _ = Suite.Add(e2e.Spec{
	Name: "evicts daemons after everything else",
	Known: []e2e.Known{{
		Releases: ">=1.0.0 <1.1.0", // seen in v1.0.8
		Issue:    "https://github.com/kubernetes-sigs/karpenter/pull/1478",
		Reason:   "daemons are evicted while a pod must not be disrupted",
		Breaks: []string{
			"^always at least 1 pod of daemon-", "drains end by their deadline, and evict pods in their order",
		},
	}},
	Run: func(ctx context.Context, env *e2e.Env) {
		pool := fixtures.NodePool().TerminationGracePeriod("1h")
		daemon := fixtures.DaemonSet().On(pool)
		app := fixtures.Pod().On(pool).Annotate(karpenter.DoNotDisruptAnnotation, "true")
		env.Create(ctx, pool, daemon, app)
		pod := env.Await(ctx, 1, check.RunningPods(app))[0]
		env.Await(ctx, 1, check.RunningPods(daemon))

		before := env.Mark()
		env.Change(ctx, pool.NewTemplate())
		draining := check.Nodes(pool).Deleting()
		env.Await(ctx, 1, draining)
		env.Observe(ctx, karpenter.Settled)
		env.RemoveAnnotation(ctx, pod, karpenter.DoNotDisruptAnnotation)
		env.Await(ctx, 0, check.Nodes(pool).Old(before))

		env.Expect(env.Since(before),
			check.While(check.RunningPods(app).On(draining), check.AtLeast(1, check.RunningPods(daemon).On(draining))))
	},
})
