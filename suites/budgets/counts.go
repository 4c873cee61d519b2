package budgets

import (
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
	"github.com/plumbline-e2e/plumbline/fixtures"
)

// pressed is the time to watch a budget that is used up. It lasts until no nomination protects
// a node, plus one disruption round.
const pressed = karpenter.NominationOver + karpenter.DisruptionPoll

// lingeringPods builds a workload with one pod on each node of the pool. The pods may not be
// evicted, and the pool's grace period is longer than any spec. So disrupted nodes stay and
// use up the budget. Otherwise a node could be gone before Karpenter looks for the next one.
//
// Source: designs/nodeclaim-termination-grace-period.md: drift disrupts such nodes if they
// have a terminationGracePeriod.
func lingeringPods(pool *fixtures.Pool, pods int) *fixtures.Workload {
	pool.TerminationGracePeriod("1h")
	return fixtures.Deployment(pods).OnePodPerNode().On(pool).Annotate(karpenter.DoNotDisruptAnnotation, "true")
}

// outdatedNodeClaims counts the NodeClaims of a pool that drift has to replace: they have drifted or are
// being deleted. Karpenter does not look for drift of those being deleted. A write of an older
// state may have removed their condition Drifted.
//
// Source: Karpenter: pkg/controllers/nodeclaim/lifecycle/controller.go, Reconcile. During
// launches it overwrites conditions without a check for changes. So specs let nodes drift only
// after their initialization.
func outdatedNodeClaims(pool *fixtures.Pool) check.Count {
	return check.NodeClaims(pool).With("that have drifted or are being deleted", func(o *unstructured.Unstructured) bool {
		return karpenter.IsTrue(o, karpenter.Drifted) || karpenter.Deleting(o)
	})
}

// usedUp checks that drift disrupts as many of a pool's nodes at once as its budget
// allows. A budget that is never reached cannot be exceeded.
func usedUp(nodes int, pool *fixtures.Pool) check.Check {
	return check.LeadsTo(check.AtLeast(1, check.DriftedNodeClaims(pool)), check.Exactly(nodes, check.BudgetedNodes(pool)))
}
