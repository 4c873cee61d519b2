package browser

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
	. "github.com/onsi/gomega"

	"github.com/plumbline-e2e/plumbline/e2e/history"
	"github.com/plumbline-e2e/plumbline/e2e/history/historytest"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
	"github.com/plumbline-e2e/plumbline/e2e/timeline"
)

// recorded is a recording of a spec: two nodes, one of which is removed once a pod is gone.
const recorded = "../../e2e/timeline/testdata/consolidation.jsonl.gz"

// What the page says of the moment, and its panel.
const (
	moment = `document.getElementById('moment').textContent`
	panel  = `document.getElementById('panel').innerText`
)

func TestTheTimelineShowsTheBreach(t *testing.T) {
	g := NewWithT(t)
	h := load(t, recorded)
	at := indexOf(g, h, func(e history.Event) bool {
		return e.Resource == karpenter.Nodes && karpenter.HasTaint(e.Object.Unstructured(), karpenter.DisruptedTaint)
	})
	number, _ := h.Place(at)
	tab := openTimeline(t, h, timeline.Broken{Number: &number, Text: "always no disrupted nodes: broken"})
	g.Expect(value[string](t, tab, moment)).To(And(ContainSubstring("taint karpenter.sh/disrupted"),
		ContainSubstring("always no disrupted nodes: broken")))
	g.Expect(value[string](t, tab, panel)).To(And(ContainSubstring("kind: Node"), MatchRegexp(`, by (kwok|karpenter)`)))
	g.Expect(value[string](t, tab, `document.querySelector('#panel .changed').textContent`)).NotTo(BeEmpty())
	screenshot(t, tab, "timeline-light")
	dark(t, tab)
	run(t, tab, chromedp.Sleep(200*time.Millisecond)) // until it is drawn anew
	screenshot(t, tab, "timeline-dark")
}

func TestTheCursorMovesFromEventToEvent(t *testing.T) {
	g := NewWithT(t)
	tab := openTimeline(t, load(t, recorded))
	event := func() int { return value[int](t, tab, `timeline.state.event`) }
	g.Expect(event()).To(Equal(-1))
	run(t, tab, chromedp.KeyEvent(kb.ArrowRight), chromedp.KeyEvent(kb.ArrowRight))
	g.Expect(event()).To(Equal(1))
	run(t, tab, chromedp.KeyEvent(kb.ArrowRight, chromedp.KeyModifiers(kb.ModifierShift)))
	same := `timeline.runs[0].events[1].object === timeline.runs[0].events[timeline.state.event].object`
	g.Expect(event()).To(BeNumerically(">", 1))
	g.Expect(value[bool](t, tab, same)).To(BeTrue(), "the next event of this object")
	run(t, tab, chromedp.KeyEvent(kb.End))
	g.Expect(value[string](t, tab, moment)).To(ContainSubstring(" of "))

	for tabName, want := range map[string]string{
		"events": "ADDED", "world": "Node plumbline-host: ready", "log": "has no log",
	} {
		run(t, tab, chromedp.Click(chromedp.CSS(fmt.Sprintf("[data-tab=%s]", tabName))))
		g.Expect(value[string](t, tab, panel)).To(ContainSubstring(want))
	}
	run(t, tab, chromedp.Click(chromedp.CSS("[data-tab=world]")), chromedp.Click(chromedp.CSS("#panel li button")))
	g.Expect(value[string](t, tab, panel)).To(ContainSubstring("apiVersion:"), "a chosen object is shown")

	lanes := `document.getElementById('search').value`
	run(t, tab, chromedp.SendKeys(chromedp.CSS("#search"), "NodeClaim"))
	g.Expect(value[string](t, tab, lanes)).To(Equal("NodeClaim"))
}

func TestTwoRecordingsAreOnOneAxis(t *testing.T) {
	g := NewWithT(t)
	h := load(t, recorded)
	one, err := timeline.Make("one", h, nil)
	g.Expect(err).NotTo(HaveOccurred())
	other, err := timeline.Make("other", h, nil)
	g.Expect(err).NotTo(HaveOccurred())
	tab := openFile(t, one, other)
	g.Expect(value[int](t, tab, `timeline.runs.length`)).To(Equal(2))
	screenshot(t, tab, "timeline-two")
}

// BenchmarkFrame measures how long the page takes to draw a recording of ten thousand events.
func BenchmarkFrame(b *testing.B) {
	h := large(10_000)
	began := time.Now()
	made, err := timeline.Make("large", h, nil)
	if err != nil {
		b.Fatal(err)
	}
	tab := openFile(b, made)
	opened := time.Since(began)
	const frames = `(() => { const all = []; for (let i = 0; i < 60; i++) { timeline.state.top = i * 40; timeline.state.from = i / 10;
		const t = performance.now(); timeline.draw(); all.push(performance.now() - t); } return all.sort((a, b) => a - b)[%d]; })()`
	var median, slowest float64
	for b.Loop() {
		median, slowest = value[float64](b, tab, fmt.Sprintf(frames, 30)), value[float64](b, tab, fmt.Sprintf(frames, 59))
	}
	b.ReportMetric(median, "ms/frame")
	b.ReportMetric(slowest, "ms/slowest-frame")
	b.ReportMetric(float64(opened.Milliseconds()), "ms/open")
	b.ReportMetric(value[float64](b, tab, `performance.memory.usedJSHeapSize / 2**20`), "MiB")
	run(b, tab, chromedp.KeyEvent("0"), chromedp.KeyEvent(kb.End))
	screenshot(b, tab, "timeline-large")
}

// large returns a history of pools, NodeClaims, nodes and pods that come and go.
func large(events int) *history.History {
	story := historytest.Begin()
	pools := []*historytest.Thing{historytest.Pool("a"), historytest.Pool("b")}
	story.Add(pools...)
	for n := 0; n*12 < events; n++ {
		name := fmt.Sprintf("n%d", n)
		pool := []string{"a", "b"}[n%2]
		nodeClaim := historytest.NodeClaim("claim-" + name).Pool(pool)
		node := historytest.Node(name).Pool(pool)
		pod := historytest.Pod("pod-"+name, "app")
		story.After(time.Second).Add(nodeClaim).After(time.Second).Change(nodeClaim.True(karpenter.Launched)).
			After(time.Second).Add(node).After(time.Second).Change(node.Ready()).
			Change(nodeClaim.True(karpenter.Registered)).Change(nodeClaim.True(karpenter.Initialized)).
			Add(pod).After(20 * time.Second).Change(nodeClaim.True(karpenter.Drifted)).
			Change(node.Taint(karpenter.DisruptedTaint)).After(time.Second).Delete(pod).Delete(node).Delete(nodeClaim)
	}
	return story.History()
}

func load(t testing.TB, file string) *history.History {
	t.Helper()
	g := NewWithT(t)
	h, err := history.LoadFile(file)
	g.Expect(err).NotTo(HaveOccurred())
	return h
}

func indexOf(g Gomega, h *history.History, match func(history.Event) bool) int {
	for i, e := range h.Events() {
		if match(e) {
			return i
		}
	}
	g.Expect("an event").To(BeEmpty(), "there is no such event")
	return -1
}

func openTimeline(t testing.TB, h *history.History, broken ...timeline.Broken) context.Context {
	t.Helper()
	made, err := timeline.Make("consolidation/late", h, broken)
	NewWithT(t).Expect(err).NotTo(HaveOccurred())
	return openFile(t, made)
}

func openFile(t testing.TB, timelines ...*timeline.Timeline) context.Context {
	t.Helper()
	g := NewWithT(t)
	file := filepath.Join(t.TempDir(), "timeline.html")
	out, err := os.Create(file)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(timeline.WriteHTML(out, timelines...)).To(Succeed())
	g.Expect(out.Close()).To(Succeed())
	return open(t, file, "[data-ready] canvas")
}
