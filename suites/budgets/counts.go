package budgets

import (
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/e2e/history"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
	"github.com/plumbline-e2e/plumbline/fixtures"
)

// pressed is how long a budget that is used up is watched: until no node is left alone for
// another reason, and for one more of the rounds of disruption.
const pressed = karpenter.NominationOver + karpenter.DisruptionPoll

// lingering builds a workload of so many pods, each on a node of the pool of its
// own, that keep a node which is being deleted: they may not be evicted, and
// only the pool's grace period, which no spec lives to see, ends that. So nodes
// that are disrupted stay disrupted, and a budget fills up. Otherwise one node
// might be gone before Karpenter looks for the next, whatever the budget says.
//
// Source: designs/nodeclaim-termination-grace-period.md: drift disrupts such
// nodes if they have a terminationGracePeriod.
func lingering(pool *fixtures.Pool, pods int) *fixtures.Workload {
	pool.TerminationGracePeriod("1h")
	return fixtures.Deployment(pods).OnePodPerNode().On(pool).Annotate(karpenter.DoNotDisruptAnnotation, "true")
}

// disrupting counts the nodes of a pool that a budget counts: tainted as
// disrupted or being deleted, but not those whose instance is being terminated
// after they have been drained. Their Node object may stand for a while yet.
//
// Source: designs/disruption-controls.md; condition InstanceTerminating of the
// NodeClaim API, since v1.0.
func disrupting(pool *fixtures.Pool) check.Count {
	disrupted, terminating := check.DisruptedNodes(pool), check.NodeClaims(pool).In(karpenter.InstanceTerminating)
	return check.Count{
		Name:  disrupted.Name,
		Among: disrupted.Among,
		Reads: append(slices.Clone(disrupted.Reads), terminating.Reads...),
		Of: func(w *history.World) []*history.Object {
			nodeClaims := terminating.Of(w)
			return slices.DeleteFunc(disrupted.Of(w), func(node *history.Object) bool {
				return slices.ContainsFunc(nodeClaims, func(nodeClaim *history.Object) bool {
					return karpenter.NodeClaimNode(nodeClaim.Unstructured()) == node.Name
				})
			})
		},
	}
}

// outdated counts the NodeClaims of a pool that drift has to replace: they have drifted, or
// are being deleted. Karpenter doesn't look for drift of those, and a write of it with an
// older state may have taken the condition Drifted from one.
//
// Source: Karpenter: pkg/controllers/nodeclaim/lifecycle/controller.go, Reconcile, writes the
// conditions of a NodeClaim that is being launched without looking whether they have changed;
// so specs wait until nodes are initialized before they let them drift.
func outdated(pool *fixtures.Pool) check.Count {
	return check.NodeClaims(pool).With("that have drifted or are being deleted", func(o *unstructured.Unstructured) bool {
		return karpenter.IsTrue(o, karpenter.Drifted) || karpenter.Deleting(o)
	})
}

// usedUp checks that drift comes to disrupt as many of a pool's nodes at once as
// its budget allows: that it isn't exceeded says little where it isn't reached.
func usedUp(nodes int, pool *fixtures.Pool) check.Check {
	return check.LeadsTo(check.AtLeast(1, check.DriftedNodeClaims(pool)), check.Exactly(nodes, disrupting(pool)))
}
