package check

import (
	"os"
	"slices"
	"testing"

	. "github.com/onsi/gomega"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/plumbline-e2e/plumbline/e2e/history"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
)

// drift loads a recording of Karpenter v1.15.0 with the KWOK provider on Kubernetes v1.36.3,
// made by TestDriftOnARealCluster.
func drift(t testing.TB) *history.History {
	t.Helper()
	f, err := os.Open("testdata/drift.jsonl.gz")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	h, err := history.Load(f)
	if err != nil {
		t.Fatal(err)
	}
	return h
}

func TestRealRecordingKeepsItsPromises(t *testing.T) {
	h := drift(t)
	for name, c := range driftSpecs("drift", "drifter", h.StartMark()) {
		if f := c.Judge(h); f.Verdict != Holds {
			t.Errorf("%s: %s", name, f)
		}
	}
}

// TestRealRecordingTamperedWith checks that one change breaks only the promises about it.
func TestRealRecordingTamperedWith(t *testing.T) {
	h := drift(t)
	first := func(match func(history.Event) bool) int { return slices.IndexFunc(h.Events(), match) }
	disruptedNode := first(func(e history.Event) bool {
		return e.Resource == karpenter.Nodes && e.Type == watch.Modified &&
			karpenter.HasTaint(e.Object.Unstructured(), karpenter.DisruptedTaint)
	})
	for name, c := range map[string]struct {
		events []history.Event
		breaks []string
	}{
		"a pod is bound to a node that has the taint": {
			events: bindTo(h, h.Events()[disruptedNode].Object.Name, disruptedNode),
			breaks: []string{"no pod is bound to a disrupted node"},
		},
		"it ends before anything drifted": {
			events: h.Events()[:first(func(e history.Event) bool {
				return karpenter.IsTrue(e.Object.Unstructured(), karpenter.Drifted)
			})],
			breaks: []string{
				"the budget is used", "the old claims drift, all", "in the end all nodes are new", "and the pods run on them",
				"the label says so too", "the old nodes stay until they drift", "Karpenter says what it disrupted",
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			start := worldOf(h.Start())
			tampered := history.New(append(start, c.events...), nil).From(len(start))
			var broken []string
			for name, c := range driftSpecs("drift", "drifter", h.StartMark()) {
				if c.Judge(tampered).Verdict == Broken {
					broken = append(broken, name)
				}
			}
			g.Expect(broken).To(ConsistOf(c.breaks))
		})
	}
}

// worldOf returns events that create the objects of a world.
func worldOf(w *history.World) []history.Event {
	var events []history.Event
	for _, r := range w.Resources() {
		for _, o := range w.List(r) {
			events = append(events, history.Event{Time: w.Time(), Type: watch.Added, Resource: r, Object: o})
		}
	}
	return events
}

// bindTo returns the events of a history. Right after one of them, a pod of the drifter is
// bound to a node, and deleted.
func bindTo(h *history.History, node string, after int) []history.Event {
	pod, err := history.NewObject([]byte(`{"kind":"Pod","apiVersion":"v1",
		"metadata":{"name":"drifter-late","namespace":"default","uid":"late",
			"ownerReferences":[{"kind":"StatefulSet","name":"drifter"}]},
		"spec":{"nodeName":"` + node + `"},"status":{"phase":"Pending"}}`))
	if err != nil {
		panic(err) // the text above is valid
	}
	bound := history.Event{Time: h.Events()[after].Time, Type: watch.Added, Resource: karpenter.Pods, Object: pod}
	gone := history.Event{Time: h.Events()[after].Time, Type: watch.Deleted, Resource: karpenter.Pods, Object: pod}
	return slices.Insert(slices.Clone(h.Events()), after+1, bound, gone)
}

// BenchmarkJudge judges 100,000 undecoded events of a repeated real recording; one op is one
// judgement. Later checks of the same history find its objects decoded.
func BenchmarkJudge(b *testing.B) {
	const n = 100_000
	raw := drift(b)
	pool, app := named("drift"), named("drifter")
	for name, c := range map[string]Check{
		"nodes":          Always(AtMost(100, DisruptedNodes(pool))),
		"nodes-and-pods": Never(AtLeast(100, RunningPods(app).On(ReadyNodes(pool)))),
		"steps-of-pods":  Whenever(Enters(BoundPods(app)), "there is a node", ForAny(AtLeast(1, Nodes(pool)))),
		"claims-lead-to": LeadsTo(AtLeast(1, DriftedNodeClaims(pool)), AtLeast(1, ReadyNodes(pool))),
	} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				b.StopTimer()
				h := repeated(b, raw, n)
				b.StartTimer()
				if f := c.Judge(h); f.Verdict != Holds {
					b.Fatal(f)
				}
			}
		})
	}
}

// repeated returns n events: those of a history, repeated, with new objects each.
func repeated(b *testing.B, h *history.History, n int) *history.History {
	b.Helper()
	events := worldOf(h.Start())
	start := len(events)
	for len(events) < n {
		for _, e := range h.Events() {
			o, err := history.NewObject(e.Object.Raw())
			if err != nil {
				b.Fatal(err)
			}
			e.Object = o
			events = append(events, e)
		}
	}
	return history.New(events, nil).From(start)
}
