package nodeclaim

import (
	"context"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
)

// A NodeClaim whose node isn't registered within fifteen minutes is given up then, and not
// before: a machine that boots for long is waited for, and one that never will be part of
// the cluster doesn't stand for the one that its maker has asked for.
//
// Source: pkg/controllers/nodeclaim/lifecycle/liveness.go, the registration timeout;
// Karpenter's regression suite, "should delete a NodeClaim after the registration timeout
// when the node doesn't register".
var _ = Suite.Add(e2e.Spec{
	Name:   "is given up when its node isn't registered for fifteen minutes",
	Needs:  needs(),
	Within: 18 * time.Minute,
	Labels: []string{"slow"},
	Run: func(ctx context.Context, env *e2e.Env) {
		claim := unregistrable(ctx, env)
		nodes := newNodes(env, claim)

		before := env.Now()
		env.Create(ctx, claim)
		env.Await(ctx, 1, in(claim, karpenter.Launched))
		env.FastForward(ctx, claim, karpenter.Registered, registrationTimeout-time.Minute)
		env.Await(ctx, 0, claims(claim))
		env.Watch(ctx, settled)
		endThose(ctx, env, nodes)

		env.Expect(env.Since(before),
			check.LeadsTo(check.AtLeast(1, in(claim, karpenter.Launched)), check.AtLeast(1, deleting(claims(claim)))),
			check.Always(check.Each(deleting(claims(claim)), "have waited for fifteen minutes", timedOut)))
	},
})

const registrationTimeout = 15 * time.Minute

// endThose ends the instances of nodes that are left, whose end is another promise.
func endThose(ctx context.Context, env *e2e.Env, nodes check.Count) {
	for _, node := range nodes.Of(env.World()) {
		endInstance(ctx, env, node)
	}
}

// timedOut says whether a NodeClaim's deletion was asked for when it had not been
// registered for fifteen minutes, or up to a minute later. The API server's times are
// whole seconds.
func timedOut(claim *unstructured.Unstructured) bool {
	unregistered, _ := karpenter.Condition(claim, karpenter.Registered)
	age := claim.GetDeletionTimestamp().Sub(unregistered.LastTransitionTime.Time)
	return age >= registrationTimeout-time.Second && age <= registrationTimeout+time.Minute
}
