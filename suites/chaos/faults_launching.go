package chaos

import (
	"context"
	"errors"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/e2e/faults"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
	"github.com/plumbline-e2e/plumbline/fixtures"
)

// Karpenter launches one node for a pod, whichever of its requests fails, is answered too late, or is its last. A
// request may be done although its answer is lost, and a controller may die between any two of them. The API is the
// only record of a launch: what was launched must be found there, and must not be launched again.
//
// There is one pod, so that a fault with one launch never meets another launch halfway.
//
// Source: https://kubernetes.io/docs/reference/using-api/api-concepts; designs/provider-agnostic: a NodeClaim is the
// record of a launch.
var _ = e2e.Table(Suite, map[string]struct {
	name  string
	fault faults.Fault
}{
	"nodeclaim-unsent": {
		"it is killed before it creates a NodeClaim",
		faults.CrashBefore(faults.On("create", karpenter.NodeClaims)),
	},
	"nodeclaim-unanswered": {
		"it is killed before it learns that a NodeClaim is created",
		faults.CrashAfter(faults.On("create", karpenter.NodeClaims)),
	},
	"launch-unsent": {
		"it is killed before it records a launch",
		faults.CrashBefore(faults.On("patch", karpenter.NodeClaims).Status().Setting("providerID")),
	},
	"launch-unanswered": {
		"it is killed before it learns that a launch is recorded",
		faults.CrashAfter(faults.On("patch", karpenter.NodeClaims).Status().Setting("providerID")),
	},
	"node-unanswered": {
		"it is killed before it learns that a node is registered",
		faults.CrashAfter(faults.On("patch", karpenter.Nodes)),
	},
	"nodeclaim-lost": {
		"the answer to a NodeClaim's creation is lost",
		faults.LoseAnswer(faults.On("create", karpenter.NodeClaims)),
	},
	"launch-lost": {
		"the answer to the record of a launch is lost",
		faults.LoseAnswer(faults.On("patch", karpenter.NodeClaims).Status().Setting("providerID")),
	},
	"conflict": {
		"others change its NodeClaims first",
		faults.Refuse(faults.On("patch", karpenter.NodeClaims).Status(),
			apierrors.NewConflict(karpenter.NodeClaims.GroupResource(), "", nil)).Times(3),
	},
	"busy": {
		"the API server has too many requests",
		faults.Refuse(faults.Writes(karpenter.NodeClaims), apierrors.NewTooManyRequests("too many requests", 1)).Times(3),
	},
	"failing": {
		"the API server fails for three requests",
		faults.Refuse(faults.Writes(karpenter.NodeClaims), apierrors.NewInternalError(errors.New("a fault"))).Times(3),
	},
	"nodeclaims-late": {
		"events of NodeClaims come half a minute late",
		faults.HoldEvents(karpenter.NodeClaims, 30*time.Second),
	},
	"nodes-late": {
		"events of nodes come half a minute late",
		faults.HoldEvents(karpenter.Nodes, 30*time.Second),
	},
	"node-missed": {
		"the first event of its node never comes",
		faults.SkipEvent(karpenter.Nodes, "", 1),
	},
	"pods-late": {
		"events of pods come half a minute late",
		faults.HoldEvents(karpenter.Pods, 30*time.Second),
	},
	"watches-cut": {
		"its watches of NodeClaims are cut",
		faults.CutWatches(karpenter.NodeClaims),
	},
	"watches-expired": {
		"its watches of nodes expire",
		faults.ExpireWatches(karpenter.Nodes),
	},
	"frozen": {
		"the API server doesn't answer for five seconds",
		faults.Freeze(5 * time.Second),
	},
}, func(row struct {
	name  string
	fault faults.Fault
},
) e2e.Spec {
	return givesOneNode(row.name, row.fault)
})

// givesOneNode returns a spec in which a fault strikes the launch of a node for a pod.
func givesOneNode(although string, fault faults.Fault) e2e.Spec {
	return e2e.Spec{
		Name:   "gives its pod one node although " + although,
		Within: 3 * time.Minute,
		Run: func(ctx context.Context, env *e2e.Env) {
			pool := fixtures.NodePool()
			app := fixtures.Deployment(1).On(pool)
			env.Create(ctx, pool)

			before := env.Mark()
			env.Fault(ctx, fault)
			env.Create(ctx, app)
			env.Await(ctx, 1, check.RunningPods(app))
			env.AwaitFaults(ctx)
			env.Await(ctx, 1, check.InitializedNodeClaims(pool))
			env.Observe(ctx, karpenter.Settled) // what is launched once more may come late

			env.Expect(env.Since(before), check.Always(check.AtMost(1, check.NodeClaims(pool))),
				check.LeadsTo(check.AtLeast(1, check.PendingPods(app)), check.Exactly(1, check.RunningPods(app))))
		},
	}
}
