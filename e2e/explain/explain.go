// Package explain tells the life of a node or a pod in sentences, from a recording: why it was launched, why it
// stayed, why it went. Each sentence has the event that shows it. What the recording doesn't show is said too.
package explain

import (
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/e2e/history"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
)

// Sentence is one thing that happened, or that the recording doesn't show.
type Sentence struct {
	At     time.Duration // since the recording began, by its cluster's clock
	Number int           // of the event in the recording; -1: none shows it
	Text   string
}

// String returns the sentence with its event.
func (s Sentence) String() string {
	if s.Number < 0 {
		return fmt.Sprintf("%10s  %10s  %s", "", "", s.Text)
	}
	return fmt.Sprintf("%10s  event %4d  %s", "+"+s.At.Round(10*time.Millisecond).String(), s.Number, s.Text)
}

// NodeClaim tells the life of a NodeClaim and its node. It fails if the recording has no such NodeClaim.
func NodeClaim(h *history.History, name string) ([]Sentence, error) {
	t := newTeller(h)
	found := t.find(karpenter.NodeClaims, func(u *unstructured.Unstructured) bool { return u.GetName() == name })
	if found == nil {
		return nil, t.missing("NodeClaim", name, karpenter.NodeClaims)
	}
	t.nodeClaim, t.node, t.pool = name, karpenter.NodeClaimNode(found), karpenter.NodePoolOf(found)
	t.tell(t.ofNodeClaim)
	return t.sentences, nil
}

// Node tells the life of a node and its NodeClaim. It fails if the recording has no such node.
func Node(h *history.History, name string) ([]Sentence, error) {
	t := newTeller(h)
	if t.find(karpenter.Nodes, func(u *unstructured.Unstructured) bool { return u.GetName() == name }) == nil {
		return nil, t.missing("Node", name, karpenter.Nodes)
	}
	nodeClaim := t.nodeClaimOf(name)
	if nodeClaim == nil {
		return nil, fmt.Errorf("node %s has no NodeClaim in the recording, so that Karpenter has nothing to do with it", name)
	}
	return NodeClaim(h, nodeClaim.GetName())
}

// Pod tells the life of a pod, by its name with or without its namespace. It fails if the recording has no such pod.
func Pod(h *history.History, name string) ([]Sentence, error) {
	t := newTeller(h)
	_, bare, qualified := strings.Cut(name, "/")
	if !qualified {
		bare = name
	}
	found := t.find(karpenter.Pods, func(u *unstructured.Unstructured) bool {
		return u.GetName() == bare && (!qualified || u.GetNamespace()+"/"+bare == name)
	})
	if found == nil {
		return nil, t.missing("Pod", name, karpenter.Pods)
	}
	t.pod = found.GetName()
	t.tell(t.ofPod)
	return t.sentences, nil
}

// teller goes through a history and collects sentences.
type teller struct {
	h         *history.History
	world     *history.World
	sentences []Sentence

	nodeClaim, node, pool, pod string

	said         map[string]bool // what was said before
	held         map[string]bool // what holds pods now, in words
	stageSince   time.Duration   // when the last stage began
	disrupted    bool
	draining     bool
	poolChanged  *moment // the latest change of the NodeClaim's pool; nil: none
	replacements []string
}

func newTeller(h *history.History) *teller {
	return &teller{h: h, world: h.Start(), said: map[string]bool{}}
}

// find returns an object of the recording as it was last, or nil.
func (t *teller) find(r schema.GroupVersionResource, match check.Predicate) (found *unstructured.Unstructured) {
	for _, o := range t.h.Start().List(r) {
		if u := o.Unstructured(); match(u) {
			found = u
		}
	}
	for _, e := range t.h.Events() {
		if e.Resource == r && match(e.Object.Unstructured()) {
			found = e.Object.Unstructured()
		}
	}
	return found
}

// nodeClaimOf returns the NodeClaim of a node, or nil.
func (t *teller) nodeClaimOf(node string) *unstructured.Unstructured {
	return t.find(karpenter.NodeClaims, func(u *unstructured.Unstructured) bool {
		return karpenter.NodeClaimNode(u) == node
	})
}

// missing says which objects of a kind the recording has instead.
func (t *teller) missing(kind, name string, r schema.GroupVersionResource) error {
	var names []string
	t.find(r, func(u *unstructured.Unstructured) bool {
		if !slices.Contains(names, u.GetName()) {
			names = append(names, u.GetName())
		}
		return false
	})
	slices.Sort(names)
	return fmt.Errorf("the recording has no %s %s; it has %s: %s", kind, name, check.Words(len(names), kind+"s"),
		strings.Join(names, ", "))
}

// moment is an event with the object before it, which may be nil.
type moment struct {
	history.Event
	before  *history.Object
	was, is *unstructured.Unstructured // the object before and after
	index   int
}

// tell goes through all events.
func (t *teller) tell(what func(moment)) {
	for i, e := range t.h.Events() {
		m := moment{Event: e, is: e.Object.Unstructured(), index: i}
		if before := t.world.Get(e.Resource, e.Object.Namespace, e.Object.Name); before != nil && e.Type != watch.Added {
			m.before, m.was = before, before.Unstructured()
		}
		t.world.Apply(e)
		what(m)
	}
}

// say adds a sentence about an event.
func (t *teller) say(m moment, format string, args ...any) {
	number, at := t.h.Place(m.index)
	t.sentences = append(t.sentences, Sentence{at, number, fmt.Sprintf(format, args...)})
}

// unknown adds a sentence about what the recording doesn't show.
func (t *teller) unknown(format string, args ...any) {
	t.sentences = append(t.sentences, Sentence{0, -1, fmt.Sprintf(format, args...)})
}

// became reports whether a condition is true since this event.
func (m moment) became(condition string) bool {
	return karpenter.IsTrue(m.is, condition) && (m.was == nil || !karpenter.IsTrue(m.was, condition))
}

// ended reports whether a condition is true no more since this event.
func (m moment) ended(condition string) bool {
	return m.was != nil && karpenter.IsTrue(m.was, condition) && !karpenter.IsTrue(m.is, condition)
}

// marked reports whether the object is being deleted since this event.
func (m moment) marked() bool {
	return karpenter.Deleting(m.is) && (m.was == nil || !karpenter.Deleting(m.was))
}

// heard tells what Karpenter or the scheduler says, once. What is said of a NodeClaim and of its node is the same.
func (t *teller) heard(m moment) {
	who, reason, message := karpenter.EventComponent(m.is), karpenter.EventReason(m.is), karpenter.EventMessage(m.is)
	if strings.HasPrefix(message, "Status condition transitioned") || reason == "Finalized" || reason == "Scheduled" ||
		who != karpenter.EventSource && who != corev1.DefaultSchedulerName {
		return // the objects themselves tell these
	}
	words := strings.ReplaceAll(reason+": "+message, "NodeClaim", "Node")
	if t.said[words] {
		return
	}
	t.said[words] = true
	t.say(m, "%s says: %s: %s", who, reason, message)
}
