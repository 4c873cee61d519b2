package nodeclaim

import (
	"context"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
	"github.com/plumbline-e2e/plumbline/fixtures"
)

// What a NodeClaim says of its node is on the node as soon as that is registered:
// labels and annotations of its metadata, taints and startup taints of its spec.
// They are how its maker finds the node and keeps others off, and without a
// NodePool nothing else says them.
//
// Source: metadata, spec.taints and spec.startupTaints of the NodeClaim API;
// Karpenter's regression suite, "should create a NodeClaim propagating all the
// NodeClaim spec details".
var _ = Suite.Add(e2e.Spec{
	Name:  "hands its labels, annotations and taints to its node",
	Needs: needs(),
	Run: func(ctx context.Context, env *e2e.Env) {
		key, kept, starting := fixtures.Key("order"), fixtures.Key("kept"), fixtures.Key("starting")
		claim := fixtures.NodeClaim().Label(key, "labelled").Annotation(key, "annotated").
			Taint(kept, fixtures.NoExecute).StartupTaint(starting, fixtures.NoSchedule)
		registered := newNodes(env, claim).With("that are registered", check.Labeled(karpenter.RegisteredLabel, "true"))

		before := env.Now()
		env.Create(ctx, claim)
		env.Await(ctx, 1, registered.With("and ready", karpenter.NodeReady))
		env.Await(ctx, 1, in(claim, karpenter.Registered))

		env.Expect(env.Since(before),
			check.Always(check.Each(registered, "have the label", check.Labeled(key, "labelled"))),
			check.Always(check.Each(registered, "have the annotation", func(node *unstructured.Unstructured) bool {
				return node.GetAnnotations()[key] == "annotated"
			})),
			check.Always(check.Each(registered, "have the taint", tainted(kept, corev1.TaintEffectNoExecute))),
			check.Always(check.Each(registered, "have the startup taint", tainted(starting, corev1.TaintEffectNoSchedule))))
	},
})

// tainted says whether a node has a taint of this key and effect.
func tainted(key string, effect corev1.TaintEffect) func(*unstructured.Unstructured) bool {
	return func(node *unstructured.Unstructured) bool {
		return slices.Contains(karpenter.Taints(node), corev1.Taint{Key: key, Effect: effect})
	}
}
