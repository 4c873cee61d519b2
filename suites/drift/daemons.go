package drift

import (
	"context"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
	"github.com/plumbline-e2e/plumbline/fixtures"
	"github.com/plumbline-e2e/plumbline/providers"
)

// Daemons leave a node that is drained after all other pods, which need their
// network, volumes and logs to the end. The other pod stays here for as long as
// it may not be disrupted, and goes when it may.
//
// Source: designs/nodeclaim-termination-grace-period.md;
// https://kubernetes.io/docs/concepts/cluster-administration/node-shutdown.
var _ = Suite.Add(e2e.Spec{
	Name:  "evicts daemons after everything else",
	Needs: []providers.Capability{providers.NodePools},
	Run: func(ctx context.Context, env *e2e.Env) {
		pool := fixtures.NodePool().TerminationGracePeriod("1h")
		daemon := fixtures.DaemonSet().On(pool)
		app := fixtures.Pod().On(pool).Annotate(karpenter.DoNotDisruptAnnotation, "true")
		env.Create(ctx, pool, daemon, app)
		pod := env.Await(ctx, 1, check.RunningPods(app))[0]
		env.Await(ctx, 1, check.RunningPods(daemon))

		before, old := env.Now(), env.World()
		env.Change(ctx, pool.NewTemplate())
		draining := check.NodesWith(pool, karpenter.Deleting, "that are being deleted")
		env.Await(ctx, 1, draining)
		env.Watch(ctx, settled)
		env.Patch(ctx, karpenter.Pods, pod.Namespace, pod.Name, `{"metadata":{"annotations":null}}`)
		env.Await(ctx, 0, check.Nodes(pool).Old(old))

		env.Expect(env.Since(before), check.Always(check.When(
			check.AtLeast(1, check.RunningPods(app).On(draining)),
			check.AtLeast(1, check.RunningPods(daemon).On(draining)))))
	},
})
