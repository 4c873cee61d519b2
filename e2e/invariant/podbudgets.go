package invariant

import (
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/e2e/history"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
)

// replacedWithin is how soon a pod that nobody wanted to lose is made again
// (Kubernetes: pkg/controller/replicaset, at once; pkg/controller/statefulset, once
// the old one is gone).
const replacedWithin = 10 * time.Second

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
// No object says who deleted a pod. Scaling down, rolling out and deleting a workload
// look the same, but for this: the workload makes no new pod of the same revision
// instead. So only a pod that is replaced was taken by the drain; pods that no
// ReplicaSet, StatefulSet or ReplicationController owns aren't judged, nor are those
// that Kubernetes itself says that it ended (condition DisruptionTarget). Whoever
// deletes such a pod by hand in the middle of a drain does break this rule.
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
					b := &podBudgets{fleet: newFleet(), pods: residents{}, budgets: map[string]podBudget{}, workloads: map[string]*workload{}}
					return b.follow
				}, karpenter.PodDisruptionBudgets, karpenter.Pods, karpenter.Nodes, karpenter.NodeClaims)
		},
	}
}

// podBudgets follows budgets, and what drains take from them.
type podBudgets struct {
	fleet
	pods      residents
	budgets   map[string]podBudget // by namespace and name
	workloads map[string]*workload // the owners of pods
	taken     []taken
}

// podBudget is a PodDisruptionBudget.
type podBudget struct {
	object   *history.Object
	selector labels.Selector
	desired  int64     // status.desiredHealthy; 0 as long as the status isn't of this spec
	since    time.Time // when that came to be; zero if it was so from the start
}

// taken is a pod that was deleted in a drain, against a budget. It is a breach if its
// workload comes to have as many pods again.
type taken struct {
	pod, budget, claim *history.Object
	at, until          time.Time
	ready, desired     int64
	wanted             int
}

func (b *podBudgets) follow(m *check.Moment) {
	b.see(m)
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
	for _, pod := range w.List(karpenter.Pods) {
		if active(pod.Unstructured()) {
			b.workload(pod).change(1, time.Time{})
		}
	}
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
	pod := m.Event.Object
	b.pods.see(pod, gone(m), m.Time)
	is := !gone(m) && active(pod.Unstructured())
	was := m.Before != nil && m.Before.UID == pod.UID && active(m.Before.Unstructured())
	w := b.workload(pod)
	switch {
	case was && !is:
		b.leaves(m, w)
		w.change(-1, m.Time)
	case is && !was:
		w.change(1, m.Time)
		b.replaced(m, w)
	}
	if gone(m) && ownedBy(pod.Unstructured(), "StatefulSet") {
		for i := range b.taken {
			if b.taken[i].pod.UID == pod.UID { // only now it can be made again
				b.taken[i].until = m.Time.Add(replacedWithin)
			}
		}
	}
}

// leaves judges the way in which a pod goes.
func (b *podBudgets) leaves(m *check.Moment, w *workload) {
	pod := m.Before
	node := m.World.Get(karpenter.Nodes, "", karpenter.PodNode(pod.Unstructured()))
	if node == nil || !ready(pod.Unstructured()) {
		return
	}
	claim := b.claimOf(node)
	if claim == nil || !tainted(node) && !deleting(node) && !deleting(claim) {
		return
	}
	budgets := b.covering(pod)
	if len(budgets) > 0 {
		m.Tested()
	}
	by := deadline(claim.Unstructured())
	forced := !by.IsZero() && !m.Time.Before(by.Add(-grace(pod.Unstructured())-time.Second))
	if forced || targeted(m.Event.Object.Unstructured()) || !replaceable(pod.Unstructured()) {
		return
	}
	for _, budget := range budgets {
		if !budget.since.IsZero() && m.Time.Sub(budget.since) <= stale {
			continue
		}
		if left := b.readyUnder(m.World, budget); left < budget.desired {
			b.taken = append(b.taken, taken{pod, budget.object, claim, m.Time, m.Time.Add(replacedWithin), left, budget.desired, w.wanted(m.Time)})
			return
		}
	}
}

// replaced judges the pods that were taken, now that a workload has one more.
func (b *podBudgets) replaced(m *check.Moment, w *workload) {
	b.taken = slices.DeleteFunc(b.taken, func(t taken) bool { return m.Time.After(t.until) })
	for _, t := range b.taken {
		if b.workload(t.pod) != w || w.active < t.wanted || revision(t.pod) != revision(m.Event.Object) {
			continue
		}
		m.Suspect(fmt.Sprintf("pod %s/%s was deleted at %s while its node was drained, without an eviction; "+
			"this left %d ready pods where PodDisruptionBudget %s asks for %d (its workload has replaced it, so nobody had scaled it down)",
			t.pod.Namespace, t.pod.Name, t.at.UTC().Format(time.TimeOnly), t.ready, t.budget.Name, t.desired), t.pod, t.budget, t.claim)
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

// targeted says whether Kubernetes itself says why it ended a pod.
func targeted(pod *unstructured.Unstructured) bool {
	return karpenter.IsTrue(pod, string(corev1.DisruptionTarget))
}
