package timeline

import (
	"bytes"
	"encoding/json"
	"maps"
	"strings"
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"github.com/plumbline-e2e/plumbline/e2e/history"
	"github.com/plumbline-e2e/plumbline/e2e/history/historytest"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
)

// life is a node's, from its NodeClaim to its end, with a pod on it, beside a node of nobody's.
func life() *history.History {
	pool := historytest.Pool("p")
	nodeClaim, node := historytest.NodeClaim("c").Pool("p"), historytest.Node("n").Pool("p")
	pod := historytest.Pod("a", "app")
	return historytest.Begin().Add(pool, historytest.Node("control-plane")).Start().
		After(time.Second).Add(pod, nodeClaim).
		After(time.Second).Change(nodeClaim.True(karpenter.Launched)).
		After(time.Second).Add(node).Change(nodeClaim.True(karpenter.Registered)).
		After(time.Second).Change(nodeClaim.True(karpenter.Initialized)).
		After(10 * time.Second).Add(historytest.Report("karpenter", "DisruptionBlocked", nodeClaim)).
		After(time.Second).Change(node.Taint(karpenter.DisruptedTaint)).
		After(time.Second).Delete(nodeClaim).History()
}

func TestALaneShowsALife(t *testing.T) {
	g := NewWithT(t)
	made, err := Make("a life", life(), nil)
	g.Expect(err).NotTo(HaveOccurred())
	var names []string
	for _, lane := range made.Lanes {
		names = append(names, strings.Repeat(" ", lane.Depth)+lane.Kind+" "+lane.Name)
	}
	g.Expect(names).To(Equal([]string{
		"NodePool p", " NodeClaim c", "Group Pods without a node", " Pod a",
		"Group Other nodes", "  Node control-plane", "  Node n",
	}))
	nodeClaim := made.Lanes[1]
	g.Expect(nodeClaim.Spans).To(Equal([]Span{
		{1, 2, "asked for"}, {2, 3, "launched"}, {3, 4, "registered"}, {4, 16, "initialized"},
	}))
	g.Expect(nodeClaim.Marks).To(ConsistOf(HaveField("Text", HavePrefix("DisruptionBlocked"))))
	node := made.Lanes[6]
	g.Expect(node.Marks).To(Equal([]Mark{{15, "taint", "taint karpenter.sh/disrupted:NoSchedule", 7}}))
	g.Expect(node.Spans[len(node.Spans)-1]).To(Equal(Span{15, 16, "disrupted"}))
}

func TestAnObjectIsWhatItsPatchesMakeOfIt(t *testing.T) {
	g := NewWithT(t)
	h := load(g)
	made, err := Make("recorded", h, nil)
	g.Expect(err).NotTo(HaveOccurred())
	for i, e := range h.Events() {
		object := made.Objects[made.Events[i].Object]
		g.Expect(object.Name).To(Equal(e.Object.Name))
		var is any
		for _, v := range object.Versions {
			if v.Event <= i {
				is = merge(is, decoded(g, v.Patch))
			}
		}
		want, err := json.Marshal(e.Object.Unstructured().Object)
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(is).To(Equal(merge(nil, decoded(g, want))))
	}
}

// merge applies a JSON merge patch (RFC 7386), as the page does.
func merge(target, patch any) any {
	changes, ok := patch.(map[string]any)
	if !ok {
		return patch
	}
	out, _ := target.(map[string]any)
	out = maps.Clone(out)
	if out == nil {
		out = map[string]any{}
	}
	for k, v := range changes {
		if v == nil {
			delete(out, k)
		} else {
			out[k] = merge(out[k], v)
		}
	}
	return out
}

func decoded(g Gomega, text []byte) (v any) {
	g.Expect(json.Unmarshal(text, &v)).To(Succeed())
	return v
}

func TestBudgetsAndLimitsOverTime(t *testing.T) {
	g := NewWithT(t)
	made, err := Make("recorded", load(g), nil)
	g.Expect(err).NotTo(HaveOccurred())
	var budget *Lane
	for i := range made.Lanes {
		if made.Lanes[i].Kind == "Budget" {
			budget = &made.Lanes[i]
		}
	}
	g.Expect(budget).NotTo(BeNil())
	g.Expect(budget.Name).To(Equal("disrupted nodes, any reason"))
	most := 0.0
	for _, p := range budget.Points {
		most = max(most, p.Used)
	}
	g.Expect(most).To(Equal(1.0), "one node is disrupted at a time")
}

func TestWhoWroteWhatIsSaid(t *testing.T) {
	g := NewWithT(t)
	h := load(g)
	made, err := Make("recorded", h, nil)
	g.Expect(err).NotTo(HaveOccurred())
	by := map[string]bool{}
	for i, e := range made.Events {
		if h.Events()[i].Resource == karpenter.Nodes && strings.HasPrefix(e.What, "taint karpenter.sh/disrupted") {
			by[e.By] = true
		}
	}
	g.Expect(by).To(HaveKey("karpenter"))
}

func TestTheBreachIsFound(t *testing.T) {
	g := NewWithT(t)
	h := life()
	number, _ := h.Place(7)
	made, err := Make("a life", h, []Broken{{&number, "never disrupted"}, {nil, "waited for 2 nodes"}})
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(made.Breaches).To(Equal([]Breach{{7, "never disrupted"}, {-1, "waited for 2 nodes"}}))
	var page bytes.Buffer
	g.Expect(WriteHTML(&page, made)).To(Succeed())
	g.Expect(page.String()).To(And(ContainSubstring("✗ never disrupted"), Not(ContainSubstring(`src="`))))
	g.Expect(WriteHTML(&page)).To(MatchError("there is no timeline to show"))
}

// load returns a recording of a spec: two nodes, one of which is removed once a pod is gone.
func load(g Gomega) *history.History {
	h, err := history.LoadFile("testdata/consolidation.jsonl.gz")
	g.Expect(err).NotTo(HaveOccurred())
	return h
}

// BenchmarkMake makes the timeline of a recording of a spec.
func BenchmarkMake(b *testing.B) {
	h := load(NewWithT(b))
	for b.Loop() {
		if _, err := Make("recorded", h, nil); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(len(h.Events())), "events")
}
