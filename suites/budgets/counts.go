package budgets

import (
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/e2e/history"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
	"github.com/plumbline-e2e/plumbline/fixtures"
)

// rested is how long a node is left alone after it was launched, whatever
// budgets say: Karpenter disrupts no node that it has just meant a pod for, for
// twice the longest batch (20 s by default). A budget that holds a node back
// is put to the test only after that.
const rested = 21 * time.Second

// pressed is how long a budget that is used up is watched: until every node has
// rested, and for one more of the rounds of disruption, ten seconds apart.
const pressed = rested + 10*time.Second

// decided is how long a pool is given to do what it must not, after Karpenter has
// disrupted a node of another: it looks at once for the next one, and thinks a
// consolidation over for 15 s.
const decided = 18 * time.Second

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
	disrupted, terminating := check.DisruptedNodes(pool), check.ClaimsWith(pool, check.True(karpenter.InstanceTerminating), "")
	return check.Count{
		Name:  disrupted.Name,
		Among: disrupted.Among,
		Reads: append(slices.Clone(disrupted.Reads), terminating.Reads...),
		Of: func(w *history.World) []*history.Object {
			claims := terminating.Of(w)
			return slices.DeleteFunc(disrupted.Of(w), func(node *history.Object) bool {
				return slices.ContainsFunc(claims, func(claim *history.Object) bool {
					return karpenter.ClaimNode(claim.Unstructured()) == node.Name
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
	return check.ClaimsWith(pool, func(claim *unstructured.Unstructured) bool {
		return karpenter.IsTrue(claim, karpenter.Drifted) || karpenter.Deleting(claim)
	}, "that have drifted or are being deleted")
}

// usedUp checks that drift comes to disrupt as many of a pool's nodes at once as
// its budget allows: that it isn't exceeded says little where it isn't reached.
func usedUp(nodes int, pool *fixtures.Pool) check.Check {
	return check.LeadsTo(check.AtLeast(1, check.DriftedClaims(pool)), check.Exactly(nodes, disrupting(pool)))
}

// holds checks that a pool's nodes had drifted and were left alone.
func holds(pool *fixtures.Pool) check.Check {
	return check.Always(check.When(
		check.AtLeast(1, check.DriftedClaims(pool)),
		check.None(check.DisruptedNodes(pool))))
}

// removesEmpty lets Karpenter remove a pool's empty nodes at once.
func removesEmpty(pool *fixtures.Pool) *fixtures.Pool {
	return pool.ConsolidationPolicy(fixtures.WhenEmpty).ConsolidateAfter("0s")
}

// onDemand returns a pool of on-demand nodes: a spot node is replaced by another one
// only behind a feature gate.
func onDemand() *fixtures.Pool {
	return fixtures.NodePool().Require(karpenter.CapacityTypeLabel, fixtures.In, karpenter.OnDemand)
}

// consolidates lets Karpenter replace a pool's underutilized nodes at once. Specs do so
// from the start: if Karpenter computes what could take a node's place just after its pool
// was changed, and isn't ready for a moment, it may not look again for five minutes.
func consolidates(pool *fixtures.Pool) *fixtures.Pool {
	return pool.ConsolidationPolicy(fixtures.WhenEmptyOrUnderutilized).ConsolidateAfter("0s")
}

// past claims that a time is over.
func past(t time.Time) check.Claim {
	return check.That("it is past "+t.UTC().Format(time.TimeOnly), func(w *history.World) (ok, exercised bool, standing string) {
		return !w.Time().Before(t), true, "it is " + w.Time().UTC().Format(time.TimeOnly)
	})
}
