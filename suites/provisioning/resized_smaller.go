package provisioning

import (
	"context"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
	"github.com/plumbline-e2e/plumbline/fixtures"
)

// A pod that is made smaller gives its room to other pods, also on a node that is starting. Its name
// and its node stay, so nothing but its resources says that there is room now. Pods are made smaller
// to save nodes. Here a startup taint keeps the node starting, or the scheduler would use the room
// before Karpenter looks.
//
// Source: https://kubernetes.io/docs/tasks/configure-pod-container/resize-container-resources;
// designs/in-place-pod-vertical-scaling.md.
var _ = Suite.Add(e2e.Spec{
	Name:  "launches nothing for a pod that has room where another one was made smaller",
	Since: e2e.Since{Kubernetes: resizing},
	Run: func(ctx context.Context, env *e2e.Env) {
		starting := fixtures.Key("starting")
		pool := fixtures.NodePool().StartupTaint(starting, fixtures.NoSchedule)
		first := fixtures.Deployment(1).On(pool).Tolerate(starting)
		env.Create(ctx, pool, first)
		node := env.Await(ctx, 1, check.StartingNodes(pool, starting))[0]
		most := fixtures.MostCPUs(node.Unstructured(), "0")
		running := fixtures.Deployment(1).On(pool).Tolerate(starting).CPU(most)
		late := fixtures.Deployment(1).On(pool).CPU(most)
		env.Create(ctx, running)
		pod := env.Await(ctx, 1, check.RunningPods(running))[0]
		env.Resized(ctx, pod, most)
		env.Resize(ctx, pod, little)
		env.Resized(ctx, pod, little)
		env.Observe(ctx, karpenter.Settled)

		before := env.Mark()
		env.Create(ctx, late)
		env.Observe(ctx, karpenter.PodsRetried)
		waiting := env.Since(before)
		env.KeepUntainted(ctx, check.Nodes(pool), starting)
		env.Await(ctx, 1, check.RunningPods(late))

		smaller := check.RunningPods(running).With("that were made smaller", askingFor(little))
		env.Expect(waiting, check.Always(check.When(check.AtLeast(1, smaller),
			check.None(check.NodeClaims(pool).New(before).AmongObjects(check.PodsOf(late))))))
	},
})
