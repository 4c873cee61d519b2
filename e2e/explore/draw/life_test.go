package draw

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/plumbline-e2e/plumbline/e2e/explore"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
)

// Most sequences have most of what nodes live through: what no sequence does shows no mistake.
func TestMostSequencesHaveAWholeLife(t *testing.T) {
	const seeds = 1000
	seen := map[string]int{}
	for seed := range seeds {
		s := Draw(seed, everything(), nil)
		for _, part := range partsOf(s) {
			seen[part]++
		}
	}
	for part, percent := range map[string]int{
		"scaled up": 75, "scaled down": 85, "consolidation": 95, "budget": 70, "drift": 75, "retuned": 75, "expiration": 75,
		"node deleted": 75, "slow pods": 55, "daemons": 75, "protected pods": 40, "pods that fit nowhere": 95,
		"many workloads": 60, "static pools": 35, "a long time": 25, "no fault": 60,
	} {
		NewWithT(t).Expect(seen[part]*100/seeds).To(BeNumerically(">=", percent), part)
	}
}

// story is what a sequence has, and how its objects were last.
type story struct {
	has       map[string]bool
	replicas  map[string]int64
	templates map[string]string
	rests     map[string]string // what NodePools say beside
}

// partsOf returns the parts of a life that a sequence has.
func partsOf(q explore.Sequence) (parts []string) {
	s := story{map[string]bool{"no fault": true}, map[string]int64{}, map[string]string{}, map[string]string{}}
	for _, a := range q.Actions {
		s.tell("a long time", a.Then.Duration >= time.Minute)
		s.tell("node deleted", a.Do == explore.DeleteNode)
		if a.Do == explore.Fault || a.Do == explore.CallHook {
			s.has["no fault"] = false
		}
		if a.Do == explore.Apply {
			s.apply(&unstructured.Unstructured{Object: a.Object})
		}
	}
	s.tell("many workloads", len(s.replicas) >= 5)
	for part, there := range s.has {
		if there {
			parts = append(parts, part)
		}
	}
	return parts
}

func (s story) tell(part string, there bool) { s.has[part] = s.has[part] || there }

func (s story) apply(o *unstructured.Unstructured) {
	switch o.GetKind() {
	case "NodePool":
		s.pool(o)
	case "Deployment":
		s.workload(o)
	case "PodDisruptionBudget":
		s.tell("protected pods", true)
	case "DaemonSet":
		s.tell("daemons", true)
	case "Pod":
		s.tell("pods that fit nowhere", strings.HasPrefix(o.GetName(), "nowhere"))
	}
}

func (s story) pool(o *unstructured.Unstructured) {
	spec := runtime.DeepCopyJSON(o.Object)["spec"].(map[string]any)
	template := spec["template"].(map[string]any)
	delete(template["spec"].(map[string]any), "requirements") // other nodes drift by them, at other times
	delete(spec, "template")
	is, before := fmt.Sprint(template), s.templates[o.GetName()]
	s.tell("drift", before != "" && before != is)
	s.templates[o.GetName()] = is
	_, static := spec["replicas"]
	s.tell("static pools", static)
	rest, before := fmt.Sprint(spec), s.rests[o.GetName()]
	s.tell("retuned", before != "" && before != rest)
	s.rests[o.GetName()] = rest
	s.tell("consolidation", textAt(o, "spec", "disruption", "consolidateAfter") != "Never")
	s.tell("expiration", textAt(o, "spec", "template", "spec", "expireAfter") != "Never")
	budgets, _, _ := unstructured.NestedSlice(o.Object, "spec", "disruption", "budgets")
	s.tell("budget", slices.ContainsFunc(budgets, func(b any) bool { return b.(map[string]any)["nodes"] != "100%" }))
}

func (s story) workload(o *unstructured.Unstructured) {
	n, _, _ := unstructured.NestedInt64(o.Object, "spec", "replicas")
	before, known := s.replicas[o.GetName()]
	s.tell("scaled up", known && n > before)
	s.tell("scaled down", known && n < before)
	s.replicas[o.GetName()] = n
	grace, _, _ := unstructured.NestedInt64(o.Object, "spec", "template", "spec", "terminationGracePeriodSeconds")
	s.tell("slow pods", grace > 0)
	s.tell("protected pods",
		textAt(o, "spec", "template", "metadata", "annotations", karpenter.DoNotDisruptAnnotation) == "true")
}

func textAt(o *unstructured.Unstructured, path ...string) string {
	text, _, _ := unstructured.NestedString(o.Object, path...)
	return text
}

// A sequence takes little time beside what it shows.
func TestSequencesAreDense(t *testing.T) {
	g := NewWithT(t)
	const seeds = 200
	var actions int
	var took time.Duration
	for seed := range seeds {
		s := Draw(seed, everything(), nil)
		actions += len(s.Actions)
		for _, a := range s.Actions {
			took += a.Then.Duration
		}
		g.Expect(len(s.Actions)).To(BeNumerically("<", 100))
	}
	t.Logf("%d actions and %s on average", actions/seeds, (took / seeds).Round(time.Second))
	g.Expect(took / seeds).To(BeNumerically("<", 8*time.Minute))
}
