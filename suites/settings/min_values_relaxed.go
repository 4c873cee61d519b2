package settings

import (
	"context"

	corev1 "k8s.io/api/core/v1"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
	"github.com/plumbline-e2e/plumbline/fixtures"
)

// A NodeClaim says whether it has fewer values than its pool's minValues, so that users find the nodes
// which the next shortage will hit. Here one batch has a pod that one instance type suits, and a pod that
// all suit. Karpenter looks at the larger pod first.
//
// Source: MIN_VALUES_POLICY, https://karpenter.sh/docs/reference/settings; Karpenter:
// pkg/apis/v1/labels.go, NodeClaimMinValuesRelaxedAnnotationKey.
var _ = Suite.Add(e2e.Spec{
	Name:  "says of each NodeClaim of a batch whether it has fewer values than minValues",
	Since: e2e.Since{Karpenter: "1.6"},
	Known: []e2e.Known{{
		Releases: ">=1.6.0 <=1.15.0", // seen in v1.6.4, v1.14.3 and v1.15.0
		Issue:    e2e.Finding("karpenter-relaxed-minvalues-that-go-unsaid"),
		Reason:   "all NodeClaims of a batch say what is true of the last one",
		Breaks:   []string{"^always all NodeClaims .* are said to"},
	}},
	Run: func(ctx context.Context, env *e2e.Env) {
		env.Configure(ctx, e2e.Settings{karpenter.MinValuesPolicy: "BestEffort"})
		key := corev1.LabelInstanceTypeStable
		open, choosy := fixtures.NodePool(), fixtures.NodePool().MinValues(key, 2)
		easy := fixtures.Deployment(1).On(open).CPU("2")
		env.Create(ctx, open, easy)
		node := env.Await(ctx, 1, check.ReadyNodes(open))[0]
		narrow := fixtures.Deployment(1).On(choosy).CPU("2").Select(key, karpenter.Label(node.Unstructured(), key))
		wide := fixtures.Deployment(1).On(choosy).CPU("1").PodAntiAffinity(narrow, corev1.LabelHostname)
		env.Create(ctx, narrow, wide)
		env.Await(ctx, 1, check.UnschedulablePods(narrow))
		env.Await(ctx, 1, check.UnschedulablePods(wide))

		before := env.Mark()
		env.Create(ctx, choosy)
		env.Await(ctx, 1, check.RunningPods(narrow))
		env.Await(ctx, 1, check.RunningPods(wide))

		one := check.NodeClaims(choosy).With("for one instance type", check.RequiringOne(key))
		many := check.NodeClaims(choosy).With("for several instance types", check.RequiringOne(key).Not())
		env.Expect(env.Since(before),
			check.Always(check.Each(one, "are said to have fewer",
				check.Annotated(karpenter.MinValuesRelaxedAnnotation, "true"))),
			check.Always(check.Each(many, "are said to have enough",
				check.Annotated(karpenter.MinValuesRelaxedAnnotation, "false"))))
	},
})
