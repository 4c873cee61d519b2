package cloud

import (
	"context"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/e2e/history"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
	"github.com/plumbline-e2e/plumbline/fixtures"
	"github.com/plumbline-e2e/plumbline/providers"
)

// Karpenter gives up launches that fail for lack of capacity and retries until each pod
// has its node. It launches no extra nodes. A shortage of one kind of instance must not
// keep pods pending while there are others.
//
// Source: pkg/cloudprovider/types.go, InsufficientCapacityError;
// pkg/controllers/nodeclaim/lifecycle/launch.go, which deletes the NodeClaim;
// https://karpenter.sh/docs/concepts/nodeclaims.
var _ = Suite.Add(e2e.Spec{
	Name:   "gives each pod a node although the cloud refused launches for lack of capacity",
	Hooks:  []providers.HookName{providers.FailNextLaunch},
	Within: 5 * time.Minute,
	Run: func(ctx context.Context, env *e2e.Env) {
		pool := fixtures.NodePool()
		app := fixtures.Deployment(2).OnePodPerNode().On(pool)
		env.Create(ctx, pool)

		before := env.Mark()
		env.Hook(ctx, providers.FailNextLaunch, providers.HookValues{Count: 2})
		env.Create(ctx, app)
		env.AwaitAtLeast(ctx, 1, refusedLaunches(before))
		env.Await(ctx, 2, check.RunningPods(app))
		env.Observe(ctx, karpenter.PodsRetried)

		env.Expect(env.Since(before),
			check.Always(check.AtMost(2, check.NodeClaims(pool).Staying())),
			check.Always(check.AtMost(2, check.Nodes(pool))),
			check.LeadsTo(check.AtLeast(1, refusedLaunches(before)), check.Exactly(2, check.RunningPods(app))))
	},
})

// refusedLaunches counts the launches that failed after the cloud was told to refuse them.
// Karpenter reports an InsufficientCapacityError by an Event and gives up the NodeClaim.
// It writes any other error, such as a CreateError, into the NodeClaim and tries again
// (pkg/controllers/nodeclaim/lifecycle/launch.go).
func refusedLaunches(since history.Mark) check.Count {
	return check.Reports(karpenter.ReasonInsufficientCapacity, nil).
		Or(check.NodeClaims(nil).With("whose launch failed", launchFailed)).
		New(since).Named("launches that the cloud refused")
}

// launchFailed tells whether a NodeClaim says why its last launch failed.
func launchFailed(nodeClaim *unstructured.Unstructured) bool {
	launched, found := karpenter.Condition(nodeClaim, karpenter.Launched)
	return found && launched.Status != metav1.ConditionTrue && launched.Reason != "" &&
		launched.Reason != karpenter.ReasonAwaiting
}
