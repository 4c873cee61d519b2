package provisioning

import (
	"context"

	corev1 "k8s.io/api/core/v1"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/fixtures"
	"github.com/plumbline-e2e/plumbline/providers"
)

// Pods that exclude each other by zone get nodes in different zones, and no more nodes
// than that. Each pod may need its own batch. Karpenter can place the next pod only after
// it knows the zone of the last pod.
//
// Source: podAntiAffinity of the Pod API; https://karpenter.sh/docs/concepts/scheduling,
// "Pod affinity/anti-affinity".
var _ = Suite.Add(e2e.Spec{
	Name:  "gives pods that exclude each other by zone a zone each",
	Needs: []providers.Capability{providers.NodePools, providers.Zones},
	Run: func(ctx context.Context, env *e2e.Env) {
		pool := fixtures.NodePool()
		app := fixtures.Deployment(2).On(pool).CPU("1")
		app.PodAntiAffinity(app, corev1.LabelTopologyZone)

		before := env.Mark()
		env.Create(ctx, pool, app)
		env.Await(ctx, 2, check.RunningPods(app))

		env.Expect(env.Since(before), check.Always(check.AtMost(2, check.NodeClaims(pool))),
			check.Always(check.None(check.NodeClaims(pool).With("for both", check.RequestingCPUs("2")))),
			check.Finally(check.Balanced(0, check.ReadyNodes(pool), corev1.LabelTopologyZone)))
	},
})
