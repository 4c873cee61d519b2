package invariant

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/labels"

	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/e2e/history"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
)

// podBudgetsHold checks that a drain violates no PodDisruptionBudget before the deadline of
// its node (terminationGracePeriod, less the pod's own grace period). Until then it must use
// the Eviction API, where the API server enforces budgets.
//
// So an eviction is never a breach. A breach is a deletion past that API, of a ready pod on a
// node that is disrupted or drained, if it leaves fewer ready pods than the budget's
// status.desiredHealthy. podDeletions decides whether a drain deleted the pod. Pods are
// counted in the recording, because the budget's status lags behind.
//
// A budget that is newer than stale, or whose controller has not seen its last change, does
// not count yet.
func podBudgetsHold() Invariant {
	return Invariant{
		Name: "drains keep to PodDisruptionBudgets until their deadline",
		Source: "policy/v1 PodDisruptionBudget; designs/nodeclaim-termination-grace-period.md; " +
			"Karpenter: pkg/controllers/node/termination/terminator/eviction.go",
		Untested: "no ready pod under a PodDisruptionBudget was on a node that was drained",
		Reads: resources{
			karpenter.PodDisruptionBudgets, karpenter.Pods, karpenter.Nodes, karpenter.NodeClaims, karpenter.Events,
		},
		New: func(Params) check.Monitor {
			return &podBudgetMonitor{newNodeIndex(), newPodDeletions(), map[string]podBudget{}}
		},
	}
}

type podBudgetMonitor struct {
	nodeIndex
	podDeletions
	budgets map[string]podBudget // by namespace and name
}

// podBudget is a PodDisruptionBudget.
type podBudget struct {
	*history.Object
	selector labels.Selector
	desired  int64     // status.desiredHealthy; 0 while the status is of an older spec
	since    time.Time // when selector and desired became so; zero if at the start
}

func (b *podBudgetMonitor) Observe(m *check.Moment) {
	b.nodeIndex.observe(m)
	b.podDeletions.observe(m)
	for _, budget := range m.Seen(karpenter.PodDisruptionBudgets) {
		b.learn(budget, m.Since())
	}
	switch m.Resource() {
	case karpenter.PodDisruptionBudgets:
		if m.Deleted() {
			delete(b.budgets, m.Event.Object.Namespace+"/"+m.Event.Object.Name)
		}
	case karpenter.Pods:
		if len(b.budgets) > 0 && becomesInactive(m) {
			b.judge(m, m.Before)
		}
	case karpenter.Nodes:
		if len(b.budgets) > 0 && becomesDeleting(m) {
			b.drainBegins(m)
		}
	}
}

func (b *podBudgetMonitor) learn(o *history.Object, since time.Time) {
	is := podBudget{Object: o, selector: karpenter.PodBudgetSelector(o.Unstructured()), since: since}
	observed, _ := fieldAt(o.Unstructured(), "status", "observedGeneration").(int64)
	if observed == generationOf(o.Unstructured()) {
		is.desired, _ = fieldAt(o.Unstructured(), "status", "desiredHealthy").(int64)
	}
	key := o.Namespace + "/" + o.Name
	if was, known := b.budgets[key]; known && was.desired == is.desired && was.selector.String() == is.selector.String() {
		is.since = was.since
	}
	b.budgets[key] = is
}

// drainBegins counts as tests the ready pods with a budget on a node that begins to drain.
func (b *podBudgetMonitor) drainBegins(m *check.Moment) {
	for _, pod := range m.World.List(karpenter.Pods) {
		u := pod.Unstructured()
		if karpenter.PodNode(u) == m.Event.Object.Name && karpenter.PodReady(u) && len(b.budgetsOf(pod)) > 0 {
			m.Tested()
		}
	}
}

// judge judges how a pod leaves.
func (b *podBudgetMonitor) judge(m *check.Moment, pod *history.Object) {
	budgets, nodeClaim := b.budgetsOf(pod), b.drainedNodeClaim(m.World, pod)
	if nodeClaim == nil || len(budgets) == 0 || !karpenter.PodReady(pod.Unstructured()) {
		return
	}
	m.Tested()
	for _, budget := range budgets {
		if !budget.since.IsZero() && m.Time.Sub(budget.since) <= stale {
			continue
		}
		if left := budget.ready(m.World); left < budget.desired {
			b.suspect(m, nodeClaim, fmt.Sprintf("this left %d ready pods where PodDisruptionBudget %s asks for %d",
				left, budget.Name, budget.desired), budget.Object)
			return
		}
	}
}

// drainedNodeClaim returns the NodeClaim of a pod's node if the node is disrupted or drained.
func (b *podBudgetMonitor) drainedNodeClaim(w *history.World, pod *history.Object) *history.Object {
	node := w.Get(karpenter.Nodes, "", karpenter.PodNode(pod.Unstructured()))
	if node == nil {
		return nil
	}
	if nodeClaim := b.nodeClaimOf(node); hasDisruptedTaint(node) || isDeleting(node) || isDeleting(nodeClaim) {
		return nodeClaim
	}
	return nil
}

// budgetsOf returns the budgets that cover a pod, sorted by name.
func (b *podBudgetMonitor) budgetsOf(pod *history.Object) []podBudget {
	var all []podBudget
	for _, name := range slices.Sorted(maps.Keys(b.budgets)) {
		if budget := b.budgets[name]; budget.selects(pod) {
			all = append(all, budget)
		}
	}
	return all
}

func (p podBudget) selects(pod *history.Object) bool {
	return p.Namespace == pod.Namespace && p.selector.Matches(labels.Set(pod.Unstructured().GetLabels()))
}

// ready counts as Kubernetes does (pkg/controller/disruption, countHealthyPods).
func (p podBudget) ready(w *history.World) int64 {
	n := int64(0)
	for _, pod := range w.List(karpenter.Pods) {
		if karpenter.PodReady(pod.Unstructured()) && isActive(pod.Unstructured()) && p.selects(pod) {
			n++
		}
	}
	return n
}
