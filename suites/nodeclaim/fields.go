package nodeclaim

import (
	"context"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
	"github.com/plumbline-e2e/plumbline/fixtures"
)

// As soon as a node is registered, it has its NodeClaim's labels and annotations
// (metadata), taints and startup taints (spec). The creator finds the node by them and
// keeps other pods off. Without a NodePool, nothing else sets them.
//
// Source: metadata, spec.taints and spec.startupTaints of the NodeClaim API;
// Karpenter's regression suite, "should create a NodeClaim propagating all the
// NodeClaim spec details".
var _ = Suite.Add(e2e.Spec{
	Name: "passes its labels, annotations and taints on to its node",
	Run: func(ctx context.Context, env *e2e.Env) {
		key, kept, starting := fixtures.Key("order"), fixtures.Key("kept"), fixtures.Key("starting")
		nodeClaim := fixtures.NodeClaim().Label(key, "labelled").Annotation(key, "annotated").
			Taint(kept, fixtures.NoExecute).StartupTaint(starting, fixtures.NoSchedule)
		registered := newNodes(env, nodeClaim).With("that are registered", check.Labeled(karpenter.RegisteredLabel, "true"))

		before := env.Mark()
		env.Create(ctx, nodeClaim)
		env.Await(ctx, 1, registered.With("and ready", karpenter.NodeReady))
		env.Await(ctx, 1, check.The(nodeClaim).In(karpenter.Registered))

		env.Expect(env.Since(before),
			check.Always(check.Each(registered, "have the label", check.Labeled(key, "labelled"))),
			check.Always(check.Each(registered, "have the annotation", check.Annotated(key, "annotated"))),
			check.Always(check.Each(registered, "have the taint", check.TaintedWith(kept, fixtures.NoExecute))),
			check.Always(check.Each(registered, "have the startup taint", check.TaintedWith(starting, fixtures.NoSchedule))))
	},
})
