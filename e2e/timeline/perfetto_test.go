package timeline

import (
	"bytes"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	"google.golang.org/protobuf/encoding/protowire"

	"github.com/plumbline-e2e/plumbline/e2e/history/historytest"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
)

// fields are a message's, by their numbers: uint64 for numbers, []byte for the rest.
type fields map[protowire.Number][]any

func parse(g Gomega, m []byte) fields {
	all := fields{}
	for len(m) > 0 {
		number, kind, n := protowire.ConsumeTag(m)
		g.Expect(n).To(BeNumerically(">", 0))
		m = m[n:]
		var value any
		switch kind {
		case protowire.VarintType:
			value, n = protowire.ConsumeVarint(m)
		case protowire.Fixed64Type:
			value, n = protowire.ConsumeFixed64(m)
		default:
			value, n = protowire.ConsumeBytes(m)
		}
		g.Expect(n).To(BeNumerically(">", 0))
		all[number] = append(all[number], value)
		m = m[n:]
	}
	return all
}

func (f fields) number(field protowire.Number) uint64 {
	if len(f[field]) == 0 {
		return 0
	}
	return f[field][0].(uint64)
}

func (f fields) text(field protowire.Number) string {
	if len(f[field]) == 0 {
		return ""
	}
	return string(f[field][0].([]byte))
}

// trace is what a trace says, with paths of tracks' names.
type trace struct {
	tracks []string            // in their order, of each track's siblings too
	paths  map[uint64]string   // by UUID
	events map[string][]string // of a track, each with its second and its name
	notes  map[string]string   // by the instant's name: all its annotations
}

// read reads a trace, and claims what holds of each: parents come before their children, times are in order, and each
// slice that begins ends.
func read(g Gomega, start time.Time, written []byte) trace {
	t := trace{nil, map[uint64]string{}, map[string][]string{}, map[string]string{}}
	open, last, ranks := map[uint64]int{}, uint64(0), map[string]uint64{}
	for _, p := range parse(g, written)[tracePacket] {
		p := parse(g, p.([]byte))
		g.Expect(p.number(packetTrustedSequence)).To(Equal(uint64(sequence)))
		at := p.number(packetTimestamp)
		g.Expect(at).To(BeNumerically(">=", last), "times are in order")
		last = at
		if len(p[packetTrackDescriptor]) > 0 {
			d := parse(g, p[packetTrackDescriptor][0].([]byte))
			parent := ""
			if uuid := d.number(trackParentUUID); uuid != 0 {
				g.Expect(t.paths).To(HaveKey(uuid), "the parent is there")
				parent = t.paths[uuid] + "/"
			}
			g.Expect(d.number(trackChildOrdering)).To(Equal(uint64(orderingExplicit)))
			if rank, known := ranks[parent]; known {
				g.Expect(d.number(trackSiblingOrderRank)).To(BeNumerically(">", rank))
			}
			ranks[parent] = d.number(trackSiblingOrderRank)
			t.paths[d.number(trackUUID)] = parent + d.text(trackName)
			t.tracks = append(t.tracks, parent+d.text(trackName))
		}
		if len(p[packetTrackEvent]) > 0 {
			e := parse(g, p[packetTrackEvent][0].([]byte))
			t.event(g, time.Duration(int64(at)-start.UnixNano()), e, open)
		}
	}
	for uuid, n := range open {
		g.Expect(n).To(BeZero(), "each slice of %s ends", t.paths[uuid])
	}
	return t
}

func (t trace) event(g Gomega, at time.Duration, e fields, open map[uint64]int) {
	uuid := e.number(eventTrackUUID)
	g.Expect(t.paths).To(HaveKey(uuid), "the event's track is there")
	name := e.text(eventName)
	switch e.number(eventType) {
	case typeSliceBegin:
		open[uuid]++
		g.Expect(open[uuid]).To(Equal(1), "phases follow each other")
	case typeSliceEnd:
		open[uuid]--
		g.Expect(open[uuid]).To(BeZero(), "what ends has begun")
		name = "end"
	case typeCounter:
		name = fmt.Sprint(math.Float64frombits(e.number(eventDoubleCounterValue)))
	}
	for _, note := range e[eventDebugAnnotations] {
		a := parse(g, note.([]byte))
		t.notes[name] += a.text(annotationName) + "=" + a.text(annotationStringValue) + "; "
	}
	t.events[t.paths[uuid]] = append(t.events[t.paths[uuid]], fmt.Sprint(at.Seconds(), " ", name))
}

func TestATraceForPerfettoHasTheLanes(t *testing.T) {
	g := NewWithT(t)
	h := life()
	number, _ := h.Place(7)
	made, err := Make("a life", h, []Broken{{&number, "never disrupted\nwanted none"}, {nil, "waited for 2 nodes"}})
	g.Expect(err).NotTo(HaveOccurred())
	made.Logs = []Note{{At: 3, Text: "found pods  Pods=1", Source: "controller's log"}}
	var written bytes.Buffer
	g.Expect(WritePerfetto(&written, made)).To(Succeed())
	is := read(g, made.Start, written.Bytes())
	g.Expect(is.tracks).To(Equal([]string{
		"a life", "a life/What broke", "a life/NodePool p", "a life/NodePool p/NodeClaim c", "a life/Pods without a node",
		"a life/Pods without a node/Pod a", "a life/Other nodes", "a life/Other nodes/Node control-plane",
		"a life/Other nodes/Node n", "a life/controller's log",
	}))
	g.Expect(is.events["a life/NodePool p/NodeClaim c"]).To(Equal([]string{
		"1 asked for", "2 end", "2 launched", "3 end", "3 registered", "4 end", "4 initialized",
		"14 DisruptionBlocked", "16 end",
	}))
	g.Expect(is.events["a life/What broke"]).To(Equal([]string{"15 never disrupted", "16 waited for 2 nodes"}))
	g.Expect(is.notes["never disrupted"]).To(And(HavePrefix("text=never disrupted\nwanted none; object=Node n; "),
		HaveSuffix("event=8; ")))
	g.Expect(is.events["a life/controller's log"]).To(Equal([]string{"3 found pods"}))
	g.Expect(WritePerfetto(&written)).To(MatchError("there is no timeline to show"))
}

func TestATraceForPerfettoCountsBudgetsAndLimits(t *testing.T) {
	g := NewWithT(t)
	made, err := Make("recorded", load(g), nil)
	g.Expect(err).NotTo(HaveOccurred())
	second := *made
	second.Title, second.Start = "beside", made.Start.Add(time.Hour)
	var written bytes.Buffer
	g.Expect(WritePerfetto(&written, made, &second)).To(Succeed())
	is := read(g, made.Start, written.Bytes())
	pool := slices.IndexFunc(is.tracks, func(path string) bool { return strings.HasSuffix(path, "/disrupting") })
	g.Expect(pool).To(BeNumerically(">", 0))
	path := is.tracks[pool]
	g.Expect(is.events[path]).To(ContainElements(HaveSuffix(" 0"), HaveSuffix(" 1")))
	g.Expect(is.tracks).To(ContainElement(strings.TrimSuffix(path, "disrupting") + "allowed disruptions"))
	g.Expect(is.events["beside"+strings.TrimPrefix(path, "recorded")]).To(Equal(is.events[path]), "on the same axis")
}

func TestAPodThatABudgetHoldsIsMarked(t *testing.T) {
	g := NewWithT(t)
	nodeClaim := historytest.NodeClaim("c").Pool("p").Set("n", "status", "nodeName")
	pod := historytest.Pod("a", "app").On("n").Phase("Running").Ready().Label("app", "app")
	budget := historytest.Other(karpenter.PodDisruptionBudgets, "PodDisruptionBudget", "default", "keep").
		Set("app", "spec", "selector", "matchLabels", "app").Set(int64(0), "status", "disruptionsAllowed")
	h := historytest.Begin().Add(historytest.Pool("p"), nodeClaim, historytest.Node("n").Pool("p"), pod, budget).Start().
		After(time.Second).Change(nodeClaim.Deleting()).
		After(time.Second).Change(pod.Label("x", "y")).
		After(time.Second).Change(budget.Set(int64(1), "status", "disruptionsAllowed")).
		After(time.Second).Change(budget.Set(int64(0), "status", "disruptionsAllowed")).History()
	made, err := Make("held", h, nil)
	g.Expect(err).NotTo(HaveOccurred())
	marks := map[string][]Mark{}
	for _, lane := range made.Lanes {
		marks[lane.Kind] = lane.Marks
	}
	why := "PodDisruptionBudget keep allows no disruption"
	g.Expect(marks["Pod"]).To(Equal([]Mark{{1, "held", "held: " + why, 0}, {4, "held", "held: " + why, 3}}))
	g.Expect(marks["Node"]).To(HaveLen(2))
	g.Expect(marks["Node"][0].Text).To(Equal("pod a is held: " + why))
}

// BenchmarkWritePerfetto writes the trace of a recording of 10,000 events: of nodes that come and go with a pod each.
func BenchmarkWritePerfetto(b *testing.B) {
	g := NewWithT(b)
	story := historytest.Begin().Add(historytest.Pool("p")).Start()
	for i := range 1000 {
		name := fmt.Sprint("c", i)
		nodeClaim, node := historytest.NodeClaim(name).Pool("p"), historytest.Node("n"+name).Pool("p")
		pod := historytest.Pod("a"+name, "app").On("n" + name)
		story = story.After(time.Second).Add(nodeClaim).Change(nodeClaim.True(karpenter.Launched)).
			Add(node).Change(nodeClaim.True(karpenter.Registered)).Add(pod).Change(nodeClaim.True(karpenter.Initialized)).
			After(time.Second).Change(node.Taint(karpenter.DisruptedTaint)).Delete(pod, node, nodeClaim)
	}
	h := story.History()
	g.Expect(h.Events()).To(HaveLen(10_000))
	made, err := Make("large", h, nil)
	g.Expect(err).NotTo(HaveOccurred())
	var trace, page bytes.Buffer
	for b.Loop() {
		trace.Reset()
		g.Expect(WritePerfetto(&trace, made)).To(Succeed())
	}
	g.Expect(WriteHTML(&page, made)).To(Succeed())
	b.ReportMetric(float64(trace.Len()), "trace-bytes")
	b.ReportMetric(float64(page.Len()), "page-bytes")
}
