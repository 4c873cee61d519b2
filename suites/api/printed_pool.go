package api

import (
	"context"

	corev1 "k8s.io/api/core/v1"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/fixtures"
)

// kubectl prints a NodePool's NodeClass, number of nodes and readiness, which users ask
// for first. With -o wide it also prints its weight and its nodes' CPU and memory.
// Scripts and habits rely on the columns.
//
// Source: additionalPrinterColumns of the NodePool CRD.
var _ = Suite.Add(e2e.Spec{
	Name: "prints a pool's NodeClass, nodes and readiness, and wide its weight, CPUs and memory",
	Run: func(ctx context.Context, env *e2e.Env) {
		pool := fixtures.NodePool().Weight(17)
		app := fixtures.Deployment(1).On(pool)
		env.Create(ctx, pool, app)
		node := env.Await(ctx, 1, check.InitializedNodes(pool))[0]
		counted := env.Await(ctx, 1, poolReporting(pool, node))[0].Unstructured()
		cpu, _ := total(counted, corev1.ResourceCPU)
		memory, _ := total(counted, corev1.ResourceMemory)

		env.ExpectColumns(ctx, pool,
			e2e.Cell{Column: "Name", Text: pool.GetName()},
			e2e.Cell{Column: "NodeClass", Text: nodeClass(counted, "spec", "template", "spec")},
			e2e.Cell{Column: "Nodes", Text: "1"},
			e2e.Cell{Column: "Ready", Text: "True"},
			e2e.Cell{Column: "Age"},
			e2e.Cell{Column: "Weight", Text: "17", Wide: true},
			e2e.Cell{Column: "CPU", Text: cpu.String(), Wide: true},
			e2e.Cell{Column: "Memory", Text: memory.String(), Wide: true})
	},
})
