package check

import (
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/plumbline-e2e/plumbline/e2e/history"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
)

// Monitor follows a history and has its own memory. Promises about the order of events read
// better as monitors than as claims.
type Monitor interface {
	// Observe is called at the start, after each event, and at the end. It should do little.
	// The moment holds what the event replaced, so there is no need to search the world.
	Observe(m *Moment)
}

// Follow returns a check by a monitor. begin makes a new monitor for each judgement. words is
// the promise. untested is what never happened if nothing put it to the test. The monitor
// observes the events of the resources in reads; all, if empty.
//
// The first breach is the finding.
func Follow(words, untested string, begin func() Monitor, reads ...schema.GroupVersionResource) Check {
	return follow{words, untested, begin, reads}
}

// Moment is what a monitor observes. An object that replaces another of the same name makes
// two moments: the old one is deleted, then the new one is added.
type Moment struct {
	// World is the state right after the event, of at least the resources that the monitor
	// reads. The next event changes it.
	World *history.World
	// Event is nil at the start and at the end.
	Event *history.Event
	// Before is the object before the event, nil if it did not exist.
	Before *history.Object
	// Time is when the event was received; at the end, when the history ends.
	Time time.Time
	// End is true at the end of the history.
	End bool

	tested int
	breach *Breach
	seen   [1]*history.Object
}

// Breach is a breach of the promise.
type Breach struct {
	reason string
	stood  []*history.Object
	proven bool
}

// Beside adds objects that the finding shows. It skips nil.
func (b *Breach) Beside(objects ...*history.Object) {
	for _, o := range objects {
		if o != nil && !slices.Contains(b.stood, o) {
			b.stood = append(b.stood, o)
		}
	}
}

// Resource returns the event's resource; empty at the start and at the end.
func (m *Moment) Resource() schema.GroupVersionResource {
	if m.Event == nil {
		return schema.GroupVersionResource{}
	}
	return m.Event.Resource
}

// Deleted reports whether the event deleted the object.
func (m *Moment) Deleted() bool { return m.Event != nil && m.Event.Type == watch.Deleted }

// Seen returns the objects of a resource that the moment shows: all of them at the start, then
// the event's unless it was deleted. The slice is valid until the next moment.
func (m *Moment) Seen(r schema.GroupVersionResource) []*history.Object {
	switch {
	case m.Event != nil && m.Event.Resource == r && m.Event.Type != watch.Deleted:
		m.seen[0] = m.Event.Object
		return m.seen[:]
	case m.Event == nil && !m.End:
		return m.World.List(r)
	default:
		return nil
	}
}

// Since returns when the state of this moment began: zero at the start, when it may be old.
func (m *Moment) Since() time.Time {
	if m.Event == nil {
		return time.Time{}
	}
	return m.Time
}

// Tested notes that this moment put the promise to the test: it could have been broken.
func (m *Moment) Tested() { m.tested++ }

// Broken reports a breach that this moment proves by itself, despite any gap. format and args
// are the reason, as for fmt.Sprintf. The finding shows the objects among args.
func (m *Moment) Broken(format string, args ...any) *Breach {
	return m.record(true, format, args...)
}

// Suspect reports a breach like Broken, but one that earlier missing events could explain:
// something did not come, or came in the wrong order.
func (m *Moment) Suspect(format string, args ...any) *Breach {
	return m.record(false, format, args...)
}

func (m *Moment) record(proven bool, format string, args ...any) *Breach {
	b := &Breach{reason: fmt.Sprintf(format, args...), proven: proven}
	for _, a := range args {
		if o, is := a.(*history.Object); is {
			b.Beside(o)
		}
	}
	if m.breach == nil {
		m.breach = b
	}
	return b
}

type follow struct {
	words, untested string
	begin           func() Monitor
	reads           []schema.GroupVersionResource
}

func (f follow) String() string { return f.words }

func (f follow) Judge(h *history.History) Finding { return Judge(h, f)[0] }

// Judge judges a history by several checks and returns their findings in the order of the
// checks. Checks made by Follow share one pass, which costs much less than one pass each.
func Judge(h *history.History, checks ...Check) []Finding {
	findings, read := make([]Finding, len(checks)), []schema.GroupVersionResource{}
	var all []*following
	for i, c := range checks {
		f, ok := c.(follow)
		if !ok {
			findings[i] = c.Judge(h)
			continue
		}
		all = append(all, &following{follow: f, monitor: f.begin(), into: &findings[i]})
		read = joinResources(read, f.reads, len(all) == 1)
	}
	if len(all) > 0 {
		replay(h, all, read)
	}
	return findings
}

// following is the state of one Follow in a pass through a history.
type following struct {
	follow
	monitor Monitor
	moment  Moment
	over    bool
	into    *Finding
}

func replay(h *history.History, all []*following, read []schema.GroupVersionResource) {
	start := h.Start()
	w := restrict(start, read)
	for _, f := range all {
		f.moment = Moment{World: w, Time: start.Time()}
		f.step(h, -1)
	}
	events := h.Events()
	defer decodeAhead(events, read)()
	for i := range events {
		e := &events[i]
		if !reads(read, e.Resource) {
			continue
		}
		before := w.Get(e.Resource, e.Object.Namespace, e.Object.Name)
		if before != nil && before.UID != e.Object.UID {
			gone := history.Event{Time: e.Time, Type: watch.Deleted, Resource: e.Resource, Object: before}
			w.Apply(gone)
			show(h, all, i, &gone, before)
			before = nil
		}
		w.Apply(*e)
		show(h, all, i, e, before)
	}
	for _, f := range all {
		if f.over {
			continue
		}
		f.moment.Event, f.moment.Before, f.moment.Time, f.moment.End = nil, nil, h.Taken(), true
		if f.step(h, -1); !f.over {
			*f.into = judgement{f, h}.verdict(f.moment.tested, f.untested)
		}
	}
}

// show passes the event at this index to the monitors that read its resource.
func show(h *history.History, all []*following, at int, e *history.Event, before *history.Object) {
	for _, f := range all {
		if !f.over && reads(f.reads, e.Resource) {
			f.moment.Event, f.moment.Before, f.moment.Time = e, before, e.Time
			f.step(h, at)
		}
	}
}

// step lets the monitor observe the moment after the event at this index.
func (f *following) step(h *history.History, at int) {
	if f.monitor.Observe(&f.moment); f.moment.breach != nil {
		f.over = true
		*f.into = f.found(judgement{f, h}, &f.moment, at)
	}
}

// decodeAhead decodes objects on the other cores, because decoding is most of the cost. It
// skips Kubernetes Events, because most are never looked at. The returned function stops it.
func decodeAhead(events []history.Event, read []schema.GroupVersionResource) (end func()) {
	var over atomic.Bool
	var workers sync.WaitGroup
	const stretch = 64 // events that one worker takes at a time
	var taken atomic.Int64
	for range runtime.GOMAXPROCS(0) - 1 {
		workers.Go(func() {
			for !over.Load() {
				to := int(taken.Add(stretch))
				if to-stretch >= len(events) {
					return
				}
				for _, e := range events[to-stretch : min(to, len(events))] {
					if e.Resource != karpenter.Events && reads(read, e.Resource) {
						e.Object.Unstructured()
					}
				}
			}
		})
	}
	return func() {
		over.Store(true)
		workers.Wait()
	}
}

// joinResources returns the resources of both lists; empty (all) if one of them is empty. For
// the first check, it returns b.
func joinResources(a, b []schema.GroupVersionResource, first bool) []schema.GroupVersionResource {
	if first {
		return b
	}
	return readsBoth(a, b)
}

func (f follow) found(j judgement, m *Moment, at int) Finding {
	found := j.broken(at, 0, "", strings.TrimPrefix(lines(m.breach.stood), "\n  "))
	found.Reason, found.Tested = m.breach.reason, max(1, m.tested)
	switch {
	case m.breach.proven:
		return found
	case at < 0:
		return j.unlessAnyGap(found)
	default:
		return j.unlessGap(found)
	}
}

func reads(some []schema.GroupVersionResource, r schema.GroupVersionResource) bool {
	return len(some) == 0 || slices.Contains(some, r)
}

// restrict returns the part of a world that has these resources; all, if some is empty.
func restrict(w *history.World, some []schema.GroupVersionResource) *history.World {
	if len(some) == 0 {
		return w
	}
	part := &history.World{}
	for _, r := range some {
		for _, o := range w.List(r) {
			part.Apply(history.Event{Time: w.Time(), Type: watch.Added, Resource: r, Object: o})
		}
	}
	return part
}
