package invariant

import (
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/e2e/history"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
)

// podBudgetsHeld says that a drain violates no PodDisruptionBudget before the
// deadline of its node (terminationGracePeriod, less the pod's own grace period):
// until then it takes pods away through the Eviction API, where the API server
// refuses what a budget forbids.
//
// So evictions are right by themselves. A breach is a ready pod on a node that is
// disrupted or drained, which is deleted past that API and leaves fewer ready pods
// than the budget's status.desiredHealthy. Pods are counted in the recording, since
// the budget's own status lags behind them.
//
// How a deletion is laid to a drain: see departures.
//
// A budget that is newer than stale, or whose controller hasn't seen its last change,
// binds nobody yet.
//
// Sources: policy/v1 PodDisruptionBudget (an empty selector covers all pods of the
// namespace, none covers none); Karpenter, designs/nodeclaim-termination-grace-period.md,
// pkg/controllers/node/termination/terminator/eviction.go.
func podBudgetsHeld() Invariant {
	const name = "drains hold PodDisruptionBudgets until their deadline"
	return Invariant{
		Name:   name,
		Source: "policy/v1 PodDisruptionBudget; designs/nodeclaim-termination-grace-period.md",
		Check: func(Params) check.Check {
			return check.Follow(name, "no ready pod under a PodDisruptionBudget was on a node that was drained",
				func() func(*check.Moment) {
					b := &podBudgets{newFleet(), newDepartures(), residents{}, map[string]podBudget{}}
					return b.follow
				}, karpenter.PodDisruptionBudgets, karpenter.Pods, karpenter.Nodes, karpenter.NodeClaims)
		},
	}
}

// podBudgets follows budgets, and what drains take from them.
type podBudgets struct {
	fleet
	departures
	pods    residents
	budgets map[string]podBudget // by namespace and name
}

// podBudget is a PodDisruptionBudget.
type podBudget struct {
	object   *history.Object
	selector labels.Selector
	desired  int64     // status.desiredHealthy; 0 as long as the status isn't of this spec
	since    time.Time // when that came to be; zero if it was so from the start
}

func (b *podBudgets) follow(m *check.Moment) {
	b.fleet.see(m)
	switch {
	case m.End:
	case m.Event == nil:
		b.start(m.World)
	case m.Event.Resource == karpenter.PodDisruptionBudgets:
		b.learn(m.Event.Object, gone(m), m.Time)
	case m.Event.Resource == karpenter.Pods:
		b.pod(m)
	case m.Event.Resource == karpenter.Nodes && beginsToGo(m):
		for _, r := range b.pods[m.Event.Object.Name] {
			if ready(r.pod.Unstructured()) && len(b.covering(r.pod)) > 0 {
				m.Tested()
			}
		}
	}
}

func (b *podBudgets) start(w *history.World) {
	for _, budget := range w.List(karpenter.PodDisruptionBudgets) {
		b.learn(budget, false, time.Time{})
	}
	b.pods.start(w)
	b.count(w)
}

// learn takes over what a budget is now.
func (b *podBudgets) learn(o *history.Object, gone bool, now time.Time) {
	key := o.Namespace + "/" + o.Name
	if gone {
		delete(b.budgets, key)
		return
	}
	is := podBudget{object: o, selector: selectorOf(o.Unstructured()), since: now}
	if observed, _ := value(o.Unstructured(), "status", "observedGeneration").(int64); observed == generation(o.Unstructured()) {
		is.desired, _ = value(o.Unstructured(), "status", "desiredHealthy").(int64)
	}
	if was, known := b.budgets[key]; known && was.desired == is.desired && was.selector.String() == is.selector.String() {
		is.since = was.since
	}
	b.budgets[key] = is
}

// selectorOf is spec.selector of a budget; one that can't be read covers nothing.
func selectorOf(budget *unstructured.Unstructured) labels.Selector {
	spec, there := value(budget, "spec", "selector").(map[string]any)
	if !there {
		return labels.Nothing()
	}
	var typed metav1.LabelSelector
	if runtime.DefaultUnstructuredConverter.FromUnstructured(spec, &typed) != nil {
		return labels.Nothing()
	}
	selector, err := metav1.LabelSelectorAsSelector(&typed)
	if err != nil {
		return labels.Nothing()
	}
	return selector
}

func (b *podBudgets) pod(m *check.Moment) {
	b.pods.see(m.Event.Object, gone(m), m.Time)
	b.departures.see(m)
	if leaves(m) {
		b.left(m)
	}
}

// left judges the way in which a pod goes.
func (b *podBudgets) left(m *check.Moment) {
	pod := m.Before
	claim := b.draining(m.World, pod)
	budgets := b.covering(pod)
	if claim == nil || len(budgets) == 0 || !ready(pod.Unstructured()) {
		return
	}
	m.Tested()
	for _, budget := range budgets {
		if !budget.since.IsZero() && m.Time.Sub(budget.since) <= stale {
			continue
		}
		if left := b.readyUnder(m.World, budget); left < budget.desired {
			b.takes(m, claim, fmt.Sprintf("this left %d ready pods where PodDisruptionBudget %s asks for %d",
				left, budget.object.Name, budget.desired), budget.object)
			return
		}
	}
}

// covering are the budgets that cover a pod.
func (b *podBudgets) covering(pod *history.Object) []podBudget {
	var all []podBudget
	for _, budget := range b.budgets {
		if budget.covers(pod) {
			all = append(all, budget)
		}
	}
	return all
}

func (p podBudget) covers(pod *history.Object) bool {
	return p.object.Namespace == pod.Namespace && p.selector.Matches(labels.Set(pod.Unstructured().GetLabels()))
}

// readyUnder counts as the disruption controller does (Kubernetes:
// pkg/controller/disruption, countHealthyPods).
func (b *podBudgets) readyUnder(w *history.World, budget podBudget) int64 {
	n := int64(0)
	for _, pod := range w.List(karpenter.Pods) {
		if ready(pod.Unstructured()) && active(pod.Unstructured()) && budget.covers(pod) {
			n++
		}
	}
	return n
}

func ready(pod *unstructured.Unstructured) bool { return karpenter.PodReady(pod) }
