package provisioning

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
	"github.com/plumbline-e2e/plumbline/fixtures"
)

// A daemon's pod takes what it was started with, also if its DaemonSet asks for less by now. A
// DaemonSet that replaces its pods only when they are deleted has such pods for a long time. A
// pod that finds no room beside one gets a new node.
//
// Source: spec.updateStrategy of the DaemonSet API, OnDelete; Karpenter:
// pkg/controllers/provisioning/scheduling/existingnode.go.
var _ = Suite.Add(e2e.Spec{
	Name: "counts a daemon's pod as large as it is and not as its successors are",
	Run: func(ctx context.Context, env *e2e.Env) {
		pool := fixtures.NodePool()
		daemon := fixtures.DaemonSet().On(pool).CPU("1").ReplaceOnDelete()
		first := fixtures.Deployment(1).On(pool)
		env.Create(ctx, pool, daemon)
		env.Create(ctx, first)
		env.Await(ctx, 1, check.RunningPods(first))
		env.Await(ctx, 1, check.RunningPods(daemon))
		node := env.Await(ctx, 1, check.ReadyNodes(pool))[0]
		env.Change(ctx, daemon.CPU("100m"))
		app := fixtures.Deployment(1).On(pool).CPU(allButLittle(node.Unstructured())).HostPort(port)
		env.Create(ctx, app)
		env.Await(ctx, 1, check.RunningPods(app))
		env.Await(ctx, 2, check.RunningPods(daemon))

		before := env.Mark()
		env.Change(ctx, app.Replicas(2))
		env.Await(ctx, 2, check.RunningPods(app))

		late := check.PodsOf(app).New(before)
		beside := check.Reports(karpenter.ReasonNominated, app).With("for node "+node.Name, check.Mentioning(node.Name))
		env.Expect(env.Since(before), check.Always(check.None(beside.AmongObjects(late))),
			check.Always(check.AtMost(3, check.NodeClaims(pool).AmongObjects(late))))
	},
})

// allButLittle returns the CPUs that a node has for pods, but for three tenths.
func allButLittle(node *unstructured.Unstructured) string {
	quantity := karpenter.Allocatable(node, corev1.ResourceCPU)
	quantity.Sub(resource.MustParse("300m"))
	return quantity.String()
}
