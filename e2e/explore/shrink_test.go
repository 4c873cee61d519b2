package explore

import (
	"slices"
	"strings"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/plumbline-e2e/plumbline/e2e/faults"
	"github.com/plumbline-e2e/plumbline/fixtures"
	"github.com/plumbline-e2e/plumbline/providers"
)

func deployment(name string, fields map[string]any) Action {
	return Action{Do: Apply, Object: map[string]any{
		"apiVersion": "apps/v1", "kind": "Deployment", "metadata": map[string]any{"name": name}, "spec": fields,
	}, Then: metav1.Duration{Duration: time.Minute}}
}

// Nothing is tried when the time is over, or the tries are.
func TestShrinkingEnds(t *testing.T) {
	g := NewWithT(t)
	long := Sequence{Actions: slices.Repeat([]Action{{Do: KillController}}, 4)}
	all := func(Sequence) (bool, error) { return true, nil }
	for _, h := range []Shrinking{
		{Breaks: all, Tries: 1000, Until: time.Now().Add(-time.Second)}, {Breaks: all},
	} {
		best, tries, err := h.Of(long)
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(best.Actions).To(HaveLen(4))
		g.Expect(tries).To(BeZero())
	}
	best, tries, err := (&Shrinking{Breaks: all, Tries: 1}).Of(long)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(best.Actions).To(HaveLen(2))
	g.Expect(tries).To(Equal(1))
}

// Of many actions and fields only those are left that it takes.
func TestShrinkingKeepsWhatItTakes(t *testing.T) {
	g := NewWithT(t)
	var long Sequence
	for range 5 {
		long.Actions = append(long.Actions, deployment("other", nil), Action{Do: KillController})
	}
	long.Name = "seed-1"
	long.Actions = append(long.Actions, deployment("culprit", map[string]any{
		"replicas": int64(3), "strategy": map[string]any{"type": "Recreate"},
		"template": map[string]any{"spec": map[string]any{"hostNetwork": true, "priority": int64(7)}},
	}), Action{Do: DeleteNode, Node: 1})
	var names []string
	h := Shrinking{Tries: 1000, Breaks: func(s Sequence) (bool, error) {
		names = append(names, s.Name)
		text, err := s.YAML()
		return strings.Contains(string(text), "hostNetwork") && strings.Contains(string(text), "kill-controller"), err
	}}
	best, tries, err := h.Of(long)
	g.Expect(err).NotTo(HaveOccurred())
	text, err := best.YAML()
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(text).To(MatchYAML(`
name: seed-1
actions:
- do: kill-controller
- do: apply
  object:
    apiVersion: apps/v1
    kind: Deployment
    metadata: {name: culprit}
    spec: {replicas: 1, template: {spec: {hostNetwork: true}}}
`))
	g.Expect(tries).To(BeNumerically("<", 60))
	g.Expect(names).To(HaveLen(tries))
	g.Expect(long.Actions).To(HaveLen(12), "the original stays as it was")
}

// Entries of lists go too, and numbers become small.
func TestShrinkingMakesValuesPlainer(t *testing.T) {
	g := NewWithT(t)
	s := Sequence{Name: "seed-1", Actions: []Action{deployment("culprit", map[string]any{
		"replicas": int64(7), "weight": float64(40),
		"requirements": []any{map[string]any{"key": "a", "values": []any{"one", "two"}}, map[string]any{"key": "b"}},
	})}}
	h := Shrinking{Tries: 1000, Breaks: func(s Sequence) (bool, error) {
		spec, _ := s.Actions[0].Object["spec"].(map[string]any)
		text, err := s.YAML()
		return spec["replicas"] != nil && strings.Contains(string(text), "- two"), err
	}}
	best, _, err := h.Of(s)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(best.Actions[0].Object["spec"]).To(Equal(map[string]any{
		"replicas": int64(1), "requirements": []any{map[string]any{"values": []any{"two"}}},
	}))
}

// A pool as its builder makes it is plainer than one that leaves more to Karpenter, which would consolidate it.
func TestShrinkingEndsAtWhatBuildersMake(t *testing.T) {
	g := NewWithT(t)
	pool := fixtures.NodePool().Called("pool1").ExpireAfter("45s").Consolidate(fixtures.WhenEmpty).Budget("2").
		Budget("0", fixtures.Drifted).Limit("cpu", "3")
	s := Sequence{Name: "seed-1", Actions: []Action{{Do: Apply, Object: pool.Unstructured().Object}}}
	h := Shrinking{Tries: 1000, Breaks: func(s Sequence) (bool, error) {
		_, limited, err := unstructured.NestedFieldNoCopy(s.Actions[0].Object, "spec", "limits", "cpu")
		return limited, err
	}}
	best, _, err := h.Of(s)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(best.Actions[0].Object).To(Equal(
		fixtures.NodePool().Called("pool1").Limit("cpu", "3").Unstructured().Object))
}

// What happens to the fourth node may as well happen to the first.
func TestShrinkingMakesNumbersPlainer(t *testing.T) {
	g := NewWithT(t)
	s := Sequence{Name: "seed-1", Actions: []Action{
		{Do: DeleteNode, Node: 3},
		{Do: CallHook, Hook: providers.FailNextLaunch, Count: 3},
		{Do: Fault, Pattern: faults.PatternFail, Request: "patch nodes", Nth: 4},
	}}
	h := Shrinking{Tries: 100, Breaks: func(s Sequence) (bool, error) {
		return len(s.Actions) == 3 && s.Actions[1].Count > 0 && s.Actions[2].Nth > 0, nil
	}}
	best, _, err := h.Of(s)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(best.Actions).To(HaveExactElements(
		HaveField("Node", 0), HaveField("Count", 1), HaveField("Nth", 4),
	))
}

// Shrinking ends with its tries, and with what it has.
func TestShrinkingEndsWithItsTries(t *testing.T) {
	g := NewWithT(t)
	s := Sequence{Name: "seed-1", Actions: make([]Action, 100)}
	for i := range s.Actions {
		s.Actions[i].Do = Wait
	}
	h := Shrinking{Tries: 3, Breaks: func(s Sequence) (bool, error) { return len(s.Actions) > 20, nil }}
	best, tries, err := h.Of(s)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(tries).To(Equal(3))
	g.Expect(len(best.Actions)).To(And(BeNumerically(">", 20), BeNumerically("<", 100)))
}

// All mistakes of a sequence are said, with their places.
func TestMistakesOfASequence(t *testing.T) {
	g := NewWithT(t)
	_, err := Parse("name: x\nactions:\n- do: jump\n- do: apply\n" +
		"- {do: wait, node: -1, then: -5s, object: {kind: Pod}}\n" +
		"- {do: hook, hook: listInstances}\n- {do: fault, pattern: cut-watches, request: patch pods}\n")
	g.Expect(err).To(MatchError(And(ContainSubstring(`action 1: do: "jump" is none of`),
		ContainSubstring("action 2: object: apply needs"), ContainSubstring("action 3: object: wait has none"),
		ContainSubstring("action 3: node: -1"), ContainSubstring("action 3: then: -5s"),
		ContainSubstring(`action 4: hook: "listInstances" is none of`),
		ContainSubstring("action 5: cut-watches doesn't strike patch pods"))))
	_, err = Parse("name: x\nactions: []\n")
	g.Expect(err).To(MatchError("it has no actions"))
	_, err = Parse("actons: []\n")
	g.Expect(err).To(MatchError(ContainSubstring("actons")))
}
