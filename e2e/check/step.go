package check

import (
	"cmp"
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/plumbline-e2e/plumbline/e2e/history"
)

// Step is an event at which one object starts or stops being counted. An object that is
// counted at the start makes no step.
type Step struct {
	count  Count
	enters bool
}

// Enters returns the step at which an object starts being counted: with BoundPods, a pod is
// bound; with Nodes, a node appears.
func Enters(c Count) Step { return Step{c, true} }

// Leaves returns the step at which an object stops being counted: with Nodes, a node is gone.
func Leaves(c Count) Step { return Step{c, false} }

// String returns the step in words.
func (s Step) String() string {
	if s.enters {
		return "one comes to the " + s.count.Name
	}
	return "one leaves the " + s.count.Name
}

// stepper finds steps from one world to the next.
type stepper struct {
	Step
	counted map[string]*history.Object // by UID, or name where there is none
}

func (s Step) newStepper(w *history.World) *stepper {
	p := &stepper{Step: s}
	p.next(w)
	return p
}

// next returns the objects that made the step since the previous world.
func (p *stepper) next(w *history.World) []*history.Object {
	var stepped []*history.Object
	now := map[string]*history.Object{}
	for _, o := range p.count.Of(w) {
		now[identity(o)] = o
		if p.enters && p.counted[identity(o)] == nil {
			stepped = append(stepped, o)
		}
	}
	if !p.enters {
		for id, o := range p.counted {
			if now[id] == nil {
				stepped = append(stepped, o)
			}
		}
		slices.SortFunc(stepped, func(a, b *history.Object) int { return cmp.Compare(identity(a), identity(b)) })
	}
	p.counted = now
	return stepped
}

func identity(o *history.Object) string {
	if o.UID != "" {
		return o.UID
	}
	return o.Namespace + "/" + o.Name
}

// Whenever checks that at each step a claim about the object is true right after it. words say
// what the claims have in common. must gets the object after the step; if it left, its last
// counted state. Example: no pod is bound to a disrupted node.
//
//	Whenever(Enters(BoundPods(app)), "its node is not disrupted", func(pod *unstructured.Unstructured) Claim {
//		return None(Node(karpenter.PodNode(pod)).With("that are disrupted", Tainted(karpenter.DisruptedTaint)))
//	})
//
// It is vacuous unless the step happened and the claim was exercised then.
func Whenever(s Step, words string, must func(*unstructured.Unstructured) Claim) Check {
	return whenever{s, words, must}
}

type whenever struct {
	step  Step
	words string
	must  func(*unstructured.Unstructured) Claim
}

func (c whenever) String() string { return fmt.Sprintf("whenever %s, %s", c.step, c.words) }

func (c whenever) Judge(h *history.History) Finding {
	j, tested := judgement{c, h}, 0
	var steps *stepper
	for at, w := range moments(h, c.step.count.Reads) {
		if at < 0 {
			steps = c.step.newStepper(w)
			continue
		}
		for _, o := range steps.next(w) {
			claim := c.must(o.Unstructured())
			ok, exercised := claim.Holds(w)
			if !ok {
				return j.unlessGap(j.broken(at, tested, fmt.Sprintf("%s, for %s", claim, title(o)), claim.Standing(w)))
			}
			tested += count(exercised)
		}
	}
	return j.verdict(tested, c.step.String()+": that never happened, or nothing could have broken the claim then")
}
