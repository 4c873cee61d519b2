package consolidation

import (
	"context"

	corev1 "k8s.io/api/core/v1"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/fixtures"
)

// Karpenter keeps a node whose pods would have to give up a preference. When nodes are launched,
// it follows preferences where it can. If it ignored them later, it would remove those nodes
// again as soon as they are there, and launch others. Here pods that would rather be apart keep
// their two nodes.
//
// Source: https://karpenter.sh/docs/concepts/disruption, "Consolidation": "consolidation must
// also attempt to satisfy these constraints to avoid immediately consolidating nodes after they
// launch".
var _ = Suite.Add(e2e.Spec{
	Name: "keeps the nodes of pods that prefer to be apart",
	Run: func(ctx context.Context, env *e2e.Env) {
		keepApart(ctx, env, func(app *fixtures.Workload) *fixtures.Workload {
			return app.PreferPodAntiAffinity(app, corev1.LabelHostname)
		})
	},
})
