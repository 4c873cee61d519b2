package check

import (
	"fmt"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/plumbline-e2e/plumbline/e2e/history"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
)

// Named returns the same count under another name.
func (c Count) Named(name string) Count {
	c.Name = name
	return c
}

// AmongObjects returns the same count with other candidates (Count.Among). Example: "no event
// about a pod" is exercised only while the pod exists.
func (c Count) AmongObjects(of Count) Count {
	c.Among, c.Reads = of.Of, readsBoth(c.Reads, of.Reads)
	return c
}

// Or returns the objects of both counts, which should be of different kinds. It has no candidates.
func (c Count) Or(other Count) Count {
	return Count{
		Name:  c.Name + " or " + other.Name,
		Reads: readsBoth(c.Reads, other.Reads),
		Of:    func(w *history.World) []*history.Object { return slices.Concat(c.Of(w), other.Of(w)) },
	}
}

// With returns the counted objects that also match. words follow the name: "nodes of pool x"
// with "that are tainted". The objects of c are the candidates.
func (c Count) With(words string, match Predicate) Count {
	return c.refine(c.Name+" "+words, remember(match))
}

// In returns the counted objects whose condition of this type is True.
func (c Count) In(condition string) Count { return c.With("that are "+condition, True(condition)) }

// SayingWhyNot returns the counted objects whose condition of this type is False, with a reason and a message.
func (c Count) SayingWhyNot(condition string) Count {
	return c.With("that say why they are not "+condition, func(o *unstructured.Unstructured) bool {
		said, found := karpenter.Condition(o, condition)
		return found && said.Status == metav1.ConditionFalse && said.Reason != "" && said.Message != ""
	})
}

// Deleting returns the counted objects that are being deleted.
func (c Count) Deleting() Count { return c.With("that are being deleted", karpenter.Deleting) }

// Staying returns the counted objects that are not being deleted. A node with the disrupted
// taint stays until its replacement is ready.
func (c Count) Staying() Count { return c.With("that stay", Predicate(karpenter.Deleting).Not()) }

// Old returns the counted objects that existed at a mark (same UID).
func (c Count) Old(since history.Mark) Count {
	known := uids(since.World())
	return c.refine(c.Name+" from before", func(o *history.Object) bool { return known[o.UID] })
}

// New returns the counted objects that did not exist at a mark.
func (c Count) New(since history.Mark) Count {
	known := uids(since.World())
	return c.refine(c.Name+" that are new", func(o *history.Object) bool { return !known[o.UID] })
}

func uids(w *history.World) map[string]bool {
	known := map[string]bool{}
	for _, r := range w.Resources() {
		for _, o := range w.List(r) {
			known[o.UID] = true
		}
	}
	return known
}

func (c Count) refine(name string, keep func(*history.Object) bool) Count {
	return Count{
		Name:  name,
		Among: c.Of,
		Reads: c.Reads,
		Of: func(w *history.World) []*history.Object {
			return slices.DeleteFunc(c.Of(w), func(o *history.Object) bool { return !keep(o) })
		},
	}
}

// On returns the counted pods that are bound to one of the given nodes.
func (c Count) On(nodes Count) Count {
	on := Count{Name: fmt.Sprintf("%s on %s", c.Name, nodes.Name), Among: c.Of, Reads: readsBoth(c.Reads, nodes.Reads)}
	on.Of = func(w *history.World) []*history.Object {
		names := map[string]bool{}
		for _, node := range nodes.Of(w) {
			names[node.Name] = true
		}
		var there []*history.Object
		for _, pod := range c.Of(w) {
			if names[karpenter.PodNode(pod.Unstructured())] {
				there = append(there, pod)
			}
		}
		return there
	}
	return on
}
