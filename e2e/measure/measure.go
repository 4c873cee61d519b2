// Package measure reads from a recording, and from its controller's metrics, what Karpenter made of a workload: how
// many nodes it took, at what price, how often pods were moved, and how long they waited.
//
//	m := measure.New(length)
//	m.Scrape(page) // the controller's metrics, now and then
//	err := m.Recording("recording")
//	r := m.Result()
//
// # What the figures mean
//
// A node is counted from when its instance was launched (the NodeClaim's condition Launched) to when the NodeClaim is
// gone, since that is what a cloud sends a bill for. Its price is the one that the provider puts on its labels, or
// says in its metrics for the instance type, the zone and the capacity type.
//
// A pod has waited from when it was created until it ran. Pods of DaemonSets don't count. A pod was moved if it ran,
// and was deleted from a node that Karpenter was ending.
//
// Requests, CPU and memory are the controller's own, by its metrics, or by what the system says of its process. CPU is
// the machine's time, also where the cluster's clock is bent. What a controller does periodically, it does less often
// where the clock is moved, so that such figures can be compared with one another, and not with those of clusters in
// real time.
//
// Memory is flat: a recording is read part by part, and of each pod a number is kept.
package measure

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/plumbline-e2e/plumbline/e2e/history"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
	"github.com/plumbline-e2e/plumbline/e2e/report/chart"
)

// Result is what was measured of one recording.
type Result struct {
	Figures map[string]float64 `json:"figures"` // by the names that Describe knows; what can't be known is missing
	Nodes   []chart.Point      `json:"nodes"`   // how many there were
	Price   []chart.Point      `json:"price"`   // of all nodes, per hour
	Waiting []chart.Point      `json:"waiting"` // pods that didn't run yet
	Notes   []string           `json:"notes,omitempty"`
}

// Meter measures one recording.
type Meter struct {
	length time.Duration
	began  time.Time
	ended  time.Time

	counters counters
	claims   map[string]*claim // by name
	nodes    map[string]bool   // by name: Karpenter ends it
	pods     map[string]*pod   // by namespace and name

	running, price, waiting series
	launches, moved         int
	lifetimes, waits        []float64 // in seconds
	unpriced                map[string]bool
	gaps                    int
}

// claim is a NodeClaim that is present.
type claim struct {
	uid      string
	launched time.Time // zero: not yet
	price    float64
}

// pod is a pod that is present.
type pod struct {
	uid     string
	since   time.Time
	ignored bool // of a DaemonSet, or from before the recording
	ran     bool
}

// New returns a meter. Means are taken over so much time from the beginning; 0: over the whole recording.
func New(length time.Duration) *Meter {
	return &Meter{
		length: length, claims: map[string]*claim{}, nodes: map[string]bool{}, pods: map[string]*pod{},
		unpriced: map[string]bool{}, counters: counters{last: map[string]float64{}, sum: map[string]float64{}},
	}
}

// Recording measures the recording in a folder, part by part, after all of the metrics are scraped.
func (m *Meter) Recording(folder string) error { return history.EachPart(folder, m.Part) }

// Part measures the next part of a recording.
func (m *Meter) Part(h *history.History) error {
	if m.began.IsZero() {
		w := h.Start()
		at := w.Time()
		if at.IsZero() && len(h.Events()) > 0 { // made by hand
			at = h.Events()[0].Time
		}
		m.begin(at)
		for _, kind := range w.Resources() {
			for _, o := range w.List(kind) {
				m.event(history.Event{Time: at, Type: watch.Added, Resource: kind, Object: o}, true)
			}
		}
	}
	m.gaps += len(h.Gaps())
	for _, e := range h.Events() {
		if m.length > 0 && e.Time.After(m.began.Add(m.length)) {
			break
		}
		m.event(e, false)
	}
	m.ended = h.Taken()
	if end := m.began.Add(m.length); m.length > 0 && m.ended.After(end) {
		m.ended = end
	}
	return nil
}

func (m *Meter) begin(at time.Time) {
	m.began = at
	for _, s := range []*series{&m.running, &m.price, &m.waiting} {
		s.began = at
	}
}

func (m *Meter) event(e history.Event, start bool) {
	switch e.Resource {
	case karpenter.NodeClaims:
		m.claim(e)
	case karpenter.Nodes:
		m.node(e)
	case karpenter.Pods:
		m.pod(e, start)
	}
}

func (m *Meter) claim(e history.Event) {
	c := m.claims[e.Object.Name]
	if c != nil && (e.Type == watch.Deleted || c.uid != e.Object.UID) {
		if !c.launched.IsZero() {
			m.running.add(e.Time, -1)
			m.price.add(e.Time, -c.price)
			m.lifetimes = append(m.lifetimes, e.Time.Sub(c.launched).Seconds())
		}
		delete(m.claims, e.Object.Name)
		c = nil
	}
	if e.Type == watch.Deleted {
		return
	}
	if c == nil {
		c = &claim{uid: e.Object.UID}
		m.claims[e.Object.Name] = c
	}
	u := e.Object.Unstructured()
	if c.launched.IsZero() && karpenter.IsTrue(u, karpenter.Launched) {
		c.launched = e.Time
		m.running.add(e.Time, 1)
		m.launches++
	}
	if !c.launched.IsZero() && c.price == 0 {
		m.give(c, u, e.Time)
	}
}

// give gives a launched node its price.
func (m *Meter) give(c *claim, u *unstructured.Unstructured, at time.Time) {
	price, known := m.counters.priceOf(u)
	kind := karpenter.InstanceType(u)
	if !known {
		m.unpriced[kind] = true
		return
	}
	delete(m.unpriced, kind)
	c.price = price
	m.price.add(at, price)
}

func (m *Meter) node(e history.Event) {
	if e.Type == watch.Deleted {
		delete(m.nodes, e.Object.Name)
		return
	}
	u := e.Object.Unstructured()
	m.nodes[e.Object.Name] = u.GetDeletionTimestamp() != nil || karpenter.HasTaint(u, karpenter.DisruptedTaint)
}

func (m *Meter) pod(e history.Event, start bool) {
	key := e.Object.String()
	p := m.pods[key]
	if p != nil && (e.Type == watch.Deleted || p.uid != e.Object.UID) {
		m.podEnded(p, e)
		delete(m.pods, key)
		p = nil
	}
	if e.Type == watch.Deleted {
		return
	}
	u := e.Object.Unstructured()
	if p == nil {
		p = &pod{uid: e.Object.UID, since: e.Time, ignored: start || ofDaemonSet(u)}
		m.pods[key] = p
		if !p.ignored {
			m.waiting.add(e.Time, 1)
		}
	}
	if phase := karpenter.PodPhase(u); !p.ran && (phase == "Running" || phase == "Succeeded") {
		p.ran = true
		if !p.ignored {
			m.waiting.add(e.Time, -1)
			m.waits = append(m.waits, e.Time.Sub(p.since).Seconds())
		}
	}
}

func (m *Meter) podEnded(p *pod, e history.Event) {
	switch {
	case p.ignored:
	case !p.ran:
		m.waiting.add(e.Time, -1)
	case m.nodes[karpenter.PodNode(e.Object.Unstructured())]:
		m.moved++
	}
}

func ofDaemonSet(u *unstructured.Unstructured) bool {
	return slices.ContainsFunc(u.GetOwnerReferences(), func(o ownerReference) bool { return o.Kind == "DaemonSet" })
}

// Result returns the figures.
func (m *Meter) Result() Result {
	f := map[string]float64{
		Nodes:    m.running.mean(m.ended),
		Launches: float64(m.launches),
		Moved:    float64(m.moved),
		Waiting:  float64(m.waiting.value),
	}
	if len(m.waits) > 0 {
		f[WaitMedian], f[WaitP99] = quantile(m.waits, 0.5), quantile(m.waits, 0.99)
	}
	if len(m.lifetimes) > 0 {
		f[Lifetime] = quantile(m.lifetimes, 0.5)
	}
	r := Result{Figures: f, Nodes: m.running.sampled(m.ended), Waiting: m.waiting.sampled(m.ended)}
	if len(m.unpriced) == 0 && m.launches > 0 {
		f[Cost] = m.price.mean(m.ended)
		r.Price = m.price.sampled(m.ended)
	}
	maps.Copy(f, m.counters.figures())
	if len(m.unpriced) > 0 {
		r.Notes = append(r.Notes, "the cost is not known: the provider says no price of "+
			strings.Join(slices.Sorted(maps.Keys(m.unpriced)), ", "))
	}
	if m.gaps > 0 {
		r.Notes = append(r.Notes, fmt.Sprintf("the recording has %d gaps: figures may miss something", m.gaps))
	}
	return r
}
