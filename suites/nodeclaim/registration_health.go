package nodeclaim

import (
	"context"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
	"github.com/plumbline-e2e/plumbline/fixtures"
	"github.com/plumbline-e2e/plumbline/providers"
)

// A NodePool says whether its nodes register. If several in a row don't, something that all of
// them share is wrong: an image, a role, a security group. One look at the pool tells, where
// NodeClaims come and go, and its reason tells what fails. A single node that doesn't register
// says nothing about the others. A pool whose nodes register says so. Before v1.8 the first node told.
//
// Source: condition NodeRegistrationHealthy of the NodePool API;
// https://github.com/kubernetes-sigs/karpenter/pull/2520;
// https://karpenter.sh/docs/concepts/nodepools, "Status conditions".
var _ = Suite.Add(e2e.Spec{
	Name:   "makes its NodePool say whether the pool's nodes register",
	Since:  e2e.Since{Karpenter: "1.8"},
	Needs:  []providers.Capability{providers.NodePools},
	Hooks:  []providers.HookName{providers.TerminateInstance},
	Within: 18 * time.Minute,
	Labels: []string{"slow"},
	Run: func(ctx context.Context, env *e2e.Env) {
		policy, binding := fixtures.Unregistrable(broken)
		env.Enforce(ctx, policy, binding)
		ill, healthy := fixtures.NodePool().Label(broken, "true"), fixtures.NodePool()
		unlucky := fixtures.NodePool().Label(broken, "true")
		failing, app := fixtures.Deployment(2).On(ill).OnePodPerNode(), fixtures.Deployment(1).On(healthy)
		alone := fixtures.Pod().On(unlucky)
		claims := check.NodeClaims(ill)

		before := env.Mark()
		env.Create(ctx, ill, unlucky, healthy, failing, alone, app)
		env.Await(ctx, 1, check.RunningPods(app))
		env.Await(ctx, 2, claims.In(karpenter.Launched))
		one := env.Await(ctx, 1, check.NodeClaims(unlucky).In(karpenter.Launched))[0]
		env.Await(ctx, 1, unhealthy(ill))
		env.Await(ctx, 0, check.The(one))
		env.Delete(ctx, failing, alone, ill, unlucky)
		env.Await(ctx, 0, claims.Or(check.NodeClaims(unlucky)))
		env.HookEach(ctx, providers.TerminateInstance, check.Nodes(ill).Or(check.Nodes(unlucky)))

		env.Expect(env.Since(before),
			check.LeadsTo(check.AtLeast(2, claims.In(karpenter.Launched)), check.AtLeast(1, unhealthy(ill))),
			check.Always(check.Each(unhealthy(ill), "blame registration after fifteen minutes", blamesRegistration)),
			check.Always(check.None(unhealthy(unlucky).AmongObjects(check.NodeClaims(unlucky)))),
			check.Always(check.None(unhealthy(healthy).AmongObjects(check.NodeClaims(healthy)))),
			check.LeadsTo(check.AtLeast(1, check.NodeClaims(healthy).In(karpenter.Registered)),
				check.AtLeast(1, check.The(healthy).In(karpenter.NodeRegistrationHealthy))))
	},
})

// unhealthy counts a pool if it says that its nodes don't register.
func unhealthy(pool *fixtures.Pool) check.Count {
	return check.The(pool).SayingWhyNot(karpenter.NodeRegistrationHealthy)
}

// blamesRegistration matches a pool that was given fifteen minutes before it said that its nodes don't register.
func blamesRegistration(pool *unstructured.Unstructured) bool {
	said, _ := karpenter.Condition(pool, karpenter.NodeRegistrationHealthy)
	return said.Reason == "RegistrationFailed" &&
		said.LastTransitionTime.Sub(pool.GetCreationTimestamp().Time) >= karpenter.RegistrationTimeout-time.Second
}
