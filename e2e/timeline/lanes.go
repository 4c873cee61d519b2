package timeline

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/e2e/history"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
)

// Lane shows one object over time, or a quantity of a pool.
type Lane struct {
	Kind   string `json:"kind"` // of the object; Budget or Limit for a quantity; Group for a heading
	Name   string `json:"name"`
	Object int    `json:"object"` // its index; -1: none
	Depth  int    `json:"depth"`  // pools 0, NodeClaims 1, nodes 2, pods 3
	Spans  []Span `json:"spans,omitempty"`
	Marks  []Mark `json:"marks,omitempty"`
	// Points are a quantity over time: what is used, and what is allowed; -1: no bound.
	Points []Point `json:"points,omitempty"`
}

// Span is a state from a time to a time.
type Span struct {
	From  float64 `json:"from"`
	To    float64 `json:"to"`
	State string  `json:"state"`
}

// Mark is a moment of an object.
type Mark struct {
	At    float64 `json:"at"`
	Kind  string  `json:"kind"` // event, warning, taint, eviction or held
	Text  string  `json:"text"`
	Event int     `json:"event"` // the index of the event
}

// Point is a quantity from a time on.
type Point struct {
	At      float64 `json:"at"`
	Used    float64 `json:"used"`
	Allowed float64 `json:"allowed"`
}

// lane is a Lane in the making.
type lane struct {
	Lane
	state string
	since float64
	began float64
	pool  string // of a NodeClaim or node
	node  string // of a NodeClaim or pod
}

// laner makes lanes event by event.
type laner struct {
	m     *maker
	lanes map[int]*lane // by the object's index
	// quantities are the lanes of pools' budgets and limits, by pool and name.
	quantities map[[2]string]*Lane
	held       map[hold]bool
}

// hold is a pod that PodDisruptionBudgets keep from being evicted from a node that is drained.
type hold struct{ namespace, pod, node, why string }

// lanes returns the lanes of a history whose events the maker has seen.
func lanes(h *history.History, m *maker) []Lane {
	l := laner{m: m, lanes: map[int]*lane{}, quantities: map[[2]string]*Lane{}}
	w := h.Start()
	next := 0 // objects are numbered as the maker saw them
	for _, r := range w.Resources() {
		for _, o := range w.List(r) {
			l.follow(next, -1, 0, history.Event{Type: watch.Added, Resource: r, Object: o}, nil)
			next++
		}
	}
	l.measure(w, 0)
	for i, e := range h.Events() {
		before := w.Get(e.Resource, e.Object.Namespace, e.Object.Name)
		w.Apply(e)
		at := m.seconds(e.Time)
		if e.Resource == karpenter.Events {
			l.said(i, at, e.Object.Unstructured())
			continue
		}
		l.follow(m.Events[i].Object, i, at, e, before)
		if slices.Contains(measured, e.Resource) {
			l.measure(w, at)
		}
		if slices.Contains(holding, e.Resource) {
			l.hold(w, i, at)
		}
	}
	return l.sorted(m.Length)
}

// measured are the resources on which pools' budgets and limits depend.
var measured = []schema.GroupVersionResource{
	karpenter.NodePools, karpenter.NodeClaims, karpenter.Nodes,
}

// holding are the resources on which it depends whether a pod is held.
var holding = []schema.GroupVersionResource{karpenter.NodeClaims, karpenter.Pods, karpenter.PodDisruptionBudgets}

// hold marks pods, and their nodes, from whose eviction a PodDisruptionBudget begins to keep a drain.
func (l *laner) hold(w *history.World, event int, at float64) {
	was := l.held
	l.held = map[hold]bool{}
	if len(w.List(karpenter.PodDisruptionBudgets)) == 0 {
		return
	}
	for _, nodeClaim := range w.List(karpenter.NodeClaims) {
		u := nodeClaim.Unstructured()
		node := karpenter.NodeClaimNode(u)
		if node == "" || !karpenter.Deleting(u) {
			continue
		}
		for _, pod := range w.List(karpenter.Pods) {
			if karpenter.PodNode(pod.Unstructured()) != node {
				continue
			}
			h := hold{pod.Namespace, pod.Name, node, check.HeldBy(w, pod)}
			if h.why == "" {
				continue
			}
			l.held[h] = true
			if !was[h] {
				l.mark("Pod", h.namespace, h.pod, Mark{at, "held", "held: " + h.why, event})
				l.mark("Node", "", h.node, Mark{at, "held", "pod " + h.pod + " is held: " + h.why, event})
			}
		}
	}
}

// mark adds a mark to the lane of an object that is there.
func (l *laner) mark(kind, namespace, name string, m Mark) {
	for _, x := range l.lanes {
		o := l.m.Objects[x.Object]
		if o.Kind == kind && o.Namespace == namespace && o.Name == name && x.state != "" {
			x.Marks = append(x.Marks, m)
		}
	}
}

// follow moves an object's lane on.
func (l *laner) follow(object, event int, at float64, e history.Event, before *history.Object) {
	if !slices.Contains(shown, e.Resource) {
		return
	}
	u := e.Object.Unstructured()
	x := l.lanes[object]
	if x == nil {
		x = &lane{Lane: Lane{Kind: kindOf(e), Name: e.Object.Name, Object: object}, since: at, began: at}
		l.lanes[object] = x
	}
	x.pool, x.node = cmp.Or(karpenter.NodePoolOf(u), x.pool), cmp.Or(nodeOf(e.Resource, u), x.node)
	state := ""
	if e.Type != watch.Deleted {
		state = stateOf(e.Resource, u)
	}
	x.enter(state, at)
	if before != nil && e.Type == watch.Modified {
		l.marks(x, event, at, before.Unstructured(), u)
	}
}

// enter ends the lane's state and begins another; "" is none.
func (x *lane) enter(state string, at float64) {
	if state == x.state {
		return
	}
	if x.state != "" {
		x.Spans = append(x.Spans, Span{x.since, at, x.state})
	}
	x.state, x.since = state, at
}

// marks adds the taints and evictions that an event brought.
func (l *laner) marks(x *lane, event int, at float64, was, is *unstructured.Unstructured) {
	old := karpenter.Taints(was)
	for _, t := range karpenter.Taints(is) {
		if !slices.Contains(old, t) {
			x.Marks = append(x.Marks, Mark{at, "taint", "taint " + t.ToString(), event})
		}
	}
	evicted := string(corev1.DisruptionTarget)
	if why, _ := karpenter.Condition(is, evicted); karpenter.IsTrue(is, evicted) && !karpenter.IsTrue(was, evicted) {
		x.Marks = append(x.Marks, Mark{at, "eviction", why.Reason + ": " + why.Message, event})
	}
}

// said puts an Event (v1) on the lane of what it is about.
func (l *laner) said(event int, at float64, u *unstructured.Unstructured) {
	about := karpenter.EventInvolved(u)
	for _, x := range l.lanes {
		o := l.m.Objects[x.Object]
		if o.Kind != about.Kind || o.Namespace != about.Namespace || o.Name != about.Name || x.state == "" && at > x.since {
			continue
		}
		kind := "event"
		if t, _, _ := unstructured.NestedString(u.Object, "type"); t == corev1.EventTypeWarning {
			kind = "warning"
		}
		x.Marks = append(x.Marks, Mark{at, kind, karpenter.EventReason(u) + ": " + karpenter.EventMessage(u), event})
	}
}

// nodeOf returns the node of a NodeClaim or pod, or "".
func nodeOf(r schema.GroupVersionResource, u *unstructured.Unstructured) string {
	switch r {
	case karpenter.NodeClaims:
		return karpenter.NodeClaimNode(u)
	case karpenter.Pods:
		return karpenter.PodNode(u)
	default:
		return ""
	}
}

// stateOf returns an object's state in one or two words.
func stateOf(r schema.GroupVersionResource, u *unstructured.Unstructured) string {
	switch r {
	case karpenter.NodeClaims:
		return nodeClaimState(u)
	case karpenter.Nodes:
		return nodeState(u)
	case karpenter.Pods:
		return podState(u)
	case karpenter.PodDisruptionBudgets:
		if n := karpenter.DisruptionsAllowed(u); n > 0 {
			return fmt.Sprintf("allows %d", n)
		}
		return "allows none"
	default:
		switch {
		case karpenter.Deleting(u):
			return "being deleted"
		case karpenter.IsTrue(u, karpenter.Ready):
			return "ready"
		default:
			return "not ready"
		}
	}
}

// nodeClaimState returns how far a NodeClaim is in its life: the latest that is true of it.
func nodeClaimState(u *unstructured.Unstructured) string {
	switch {
	case karpenter.IsTrue(u, karpenter.InstanceTerminating):
		return "instance ending"
	case karpenter.Deleting(u) && karpenter.IsTrue(u, karpenter.Drained):
		return "drained"
	case karpenter.Deleting(u):
		return "draining"
	case karpenter.IsTrue(u, karpenter.DisruptionReason):
		return "disrupted"
	}
	for _, c := range []struct{ condition, state string }{
		{karpenter.Drifted, "drifted"},
		{karpenter.Consolidatable, "consolidatable"},
		{karpenter.Initialized, "initialized"},
		{karpenter.Registered, "registered"},
		{karpenter.Launched, "launched"},
	} {
		if karpenter.IsTrue(u, c.condition) {
			return c.state
		}
	}
	return "asked for"
}

func nodeState(u *unstructured.Unstructured) string {
	switch {
	case karpenter.Deleting(u):
		return "being deleted"
	case karpenter.HasTaint(u, karpenter.DisruptedTaint):
		return "disrupted"
	case !karpenter.NodeReady(u):
		return "not ready"
	default:
		return "ready"
	}
}

func podState(u *unstructured.Unstructured) string {
	phase := karpenter.PodPhase(u)
	switch {
	case karpenter.Deleting(u):
		return "ending"
	case phase == corev1.PodSucceeded || phase == corev1.PodFailed:
		return "ended"
	case karpenter.PodReady(u):
		return "running"
	case karpenter.PodNode(u) != "":
		return "starting"
	default:
		return "pending"
	}
}

// measure adds points to the quantities of each pool, if they have changed.
func (l *laner) measure(w *history.World, at float64) {
	now := l.m.Start.Add(time.Duration(at * float64(time.Second)))
	for _, pool := range w.List(karpenter.NodePools) {
		u := pool.Unstructured()
		budgets := karpenter.Budgets(u)
		nodes, out := useOf(w, pool.Name)
		for _, reason := range reasonsOf(budgets) {
			allowed := float64(karpenter.AllowedDisruptions(budgets, nodes, reason, now))
			if allowed > float64(nodes) {
				allowed = -1
			}
			l.point(pool.Name, "Budget", "disrupted nodes, "+reason, Point{at, float64(out), allowed})
		}
		limits, _, _ := unstructured.NestedMap(u.Object, "spec", "limits")
		for _, name := range slices.Sorted(maps.Keys(limits)) {
			used, limit := limitOf(w, pool.Name, name, limits[name])
			l.point(pool.Name, "Limit", name, Point{at, used, limit})
		}
	}
}

func (l *laner) point(pool, kind, name string, p Point) {
	key := [2]string{pool, kind + name}
	x := l.quantities[key]
	if x == nil {
		x = &Lane{Kind: kind, Name: name, Object: -1, Depth: 1}
		l.quantities[key] = x
	}
	if n := len(x.Points); n == 0 || x.Points[n-1].Used != p.Used || x.Points[n-1].Allowed != p.Allowed {
		x.Points = append(x.Points, p)
	}
}

// reasonsOf returns the reasons of disruption that a pool's budgets tell apart.
func reasonsOf(budgets []karpenter.Budget) []string {
	reasons := map[string]bool{}
	for _, b := range budgets {
		for _, r := range b.Reasons {
			reasons[r] = true
		}
		if len(b.Reasons) == 0 {
			reasons["any reason"] = true
		}
	}
	return slices.Sorted(maps.Keys(reasons))
}

// useOf returns how many initialized nodes a pool has, and how many of these are disrupted or deleted.
func useOf(w *history.World, pool string) (nodes, out int) {
	for _, node := range w.List(karpenter.Nodes) {
		u := node.Unstructured()
		if karpenter.NodePoolOf(u) != pool || karpenter.Label(u, karpenter.InitializedLabel) == "" {
			continue
		}
		nodes++
		if karpenter.Deleting(u) || karpenter.HasTaint(u, karpenter.DisruptedTaint) {
			out++
		}
	}
	return nodes, out
}
