package nodeclaim

import (
	"context"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
	"github.com/plumbline-e2e/plumbline/providers"
)

// Karpenter deletes a NodeClaim if its node isn't registered within fifteen minutes, but
// not earlier. A slow machine has this time to boot. A machine that never joins the
// cluster does not take the place of the requested node.
//
// Source: pkg/controllers/nodeclaim/lifecycle/liveness.go, the registration timeout;
// Karpenter's regression suite, "should delete a NodeClaim after the registration timeout
// when the node doesn't register".
var _ = Suite.Add(e2e.Spec{
	Name:   "is given up when its node isn't registered for fifteen minutes",
	Hooks:  []providers.HookName{providers.TerminateInstance},
	Within: 18 * time.Minute,
	Labels: []string{"slow"},
	Known: []e2e.Known{{
		Releases: ">=1.0.0 <1.1.0", // seen in v1.0.8
		Issue:    "https://github.com/kubernetes-sigs/karpenter/pull/1773",
		Reason:   "Karpenter looks at a NodeClaim whose registration fails only every five minutes",
		Breaks:   []string{"^waited for 0 NodeClaims", "have waited for fifteen minutes"},
	}},
	Run: func(ctx context.Context, env *e2e.Env) {
		nodeClaim := unregistrableNodeClaim(ctx, env)
		nodes := newNodes(env, nodeClaim)

		before := env.Mark()
		env.Create(ctx, nodeClaim)
		env.Await(ctx, 1, check.The(nodeClaim).In(karpenter.Launched))
		env.AgeCondition(ctx, nodeClaim, karpenter.Registered, karpenter.RegistrationTimeout-time.Minute)
		env.Await(ctx, 0, check.The(nodeClaim))
		env.Observe(ctx, karpenter.Settled)
		env.HookEach(ctx, providers.TerminateInstance, nodes)

		env.ExpectUndisturbed(env.Since(before), check.LeadsTo(check.AtLeast(1, check.The(nodeClaim).Deleting()),
			check.AtLeast(1, check.The(nodeClaim).In(karpenter.InstanceTerminating))))
		env.Expect(env.Since(before),
			check.LeadsTo(check.AtLeast(1, check.The(nodeClaim).In(karpenter.Launched)),
				check.AtLeast(1, check.The(nodeClaim).Deleting())),
			check.Always(check.Each(check.The(nodeClaim).Deleting(), "have waited for fifteen minutes", timedOut)))
	},
})

// timedOut tells whether a NodeClaim's deletion was requested 15 to 16 minutes after it began
// to wait for registration. The API server's times are whole seconds.
func timedOut(nodeClaim *unstructured.Unstructured) bool {
	unregistered, _ := karpenter.Condition(nodeClaim, karpenter.Registered)
	age := nodeClaim.GetDeletionTimestamp().Sub(unregistered.LastTransitionTime.Time)
	return age >= karpenter.RegistrationTimeout-time.Second && age <= karpenter.RegistrationTimeout+time.Minute
}
