package provisioning

import (
	"context"

	corev1 "k8s.io/api/core/v1"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/fixtures"
)

// A pod gets a node at once, although pods that it excludes are left over from a node that has
// vanished. Kubernetes removes such pods only after a while, and they run nowhere. Just then many
// pods need new nodes, and one pod that is left over must not hold up all others. Here somebody removes
// the finalizer of a node that a PodDisruptionBudget keeps from being drained.
//
// Source: https://kubernetes.io/docs/concepts/workloads/pods/pod-lifecycle, "Garbage collection of Pods";
// Karpenter: pkg/controllers/provisioning/scheduling/topology.go, countDomains.
var _ = Suite.Add(e2e.Spec{
	Name: "launches a node for a pod that excludes what is left on a node that has vanished",
	Breaks: []e2e.Breach{{
		Invariant: "instances end before their nodes and NodeClaims do",
		Why:       "somebody removes the node's finalizer",
	}},
	Run: func(ctx context.Context, env *e2e.Env) {
		pool, other := fixtures.NodePool(), fixtures.NodePool()
		app := fixtures.Deployment(1).On(pool)
		late := fixtures.Deployment(1).On(other).PodAntiAffinity(app, corev1.LabelHostname)
		node := env.Launch(ctx, 1, pool, app)[0]
		env.Create(ctx, app.MaxUnavailable(0))

		before := env.Mark()
		env.Delete(ctx, node)
		env.RemoveFinalizers(ctx, node)
		env.Await(ctx, 0, check.Node(node.Name))
		env.Create(ctx, other, late)
		env.Await(ctx, 1, check.RunningPods(late))

		env.Expect(env.Since(before), check.Always(check.AtMost(1, check.NodeClaims(other))),
			check.Sometimes(check.AllOf(check.None(check.Node(node.Name)), check.AtLeast(1, check.NodeClaims(other)),
				check.AtLeast(1, check.RunningPods(app).Old(before)))))
	},
})
