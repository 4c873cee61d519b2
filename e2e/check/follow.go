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

// Monitor follows a history and remembers what it needs, for promises about how things follow one another, which would
// read badly as claims.
type Monitor interface {
	// Observe is called with the world at the start, after each event, and at the end. It should do little: the moment
	// tells what the event replaced, so that nobody needs to search the world for it.
	Observe(m *Moment)
}

// Follow is a check by a monitor, and begin makes a new one for each judgement. words say what is promised, untested
// what never happened if nothing put it to the test. The monitor observes events of the resources that it reads: of
// all, if there are none.
//
// The first breach is the finding.
func Follow(words, untested string, begin func() Monitor, reads ...schema.GroupVersionResource) Check {
	return follow{words, untested, begin, reads}
}

// Moment is what a monitor observes. An object that takes the place of another of the same name makes two of them: one
// in which the other is deleted, and one in which it is added.
type Moment struct {
	// World is the state of the resources that the monitor reads (that of others may be missing), right after the
	// event. The next event moves it on.
	World *history.World
	// Event is what happened; nil at the start and at the end.
	Event *history.Event
	// Before is the object as it was before the event, nil if it was not there.
	Before *history.Object
	// Time is when the event was received. At the end it is up to when the history goes.
	Time time.Time
	// End says that the history is over.
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

// Beside adds objects to what stood then; nil ones are left out.
func (b *Breach) Beside(objects ...*history.Object) {
	for _, o := range objects {
		if o != nil && !slices.Contains(b.stood, o) {
			b.stood = append(b.stood, o)
		}
	}
}

// Resource is the event's; empty at the start and at the end.
func (m *Moment) Resource() schema.GroupVersionResource {
	if m.Event == nil {
		return schema.GroupVersionResource{}
	}
	return m.Event.Resource
}

// Deleted says that the object is gone since the event.
func (m *Moment) Deleted() bool { return m.Event != nil && m.Event.Type == watch.Deleted }

// Seen are the objects of a resource that the moment shows: all of them at the start, then the event's, unless it is
// gone. The slice is good until the next moment.
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

// Since is when that which the moment shows came to be: zero at the start, since it may have been so for long.
func (m *Moment) Since() time.Time {
	if m.Event == nil {
		return time.Time{}
	}
	return m.Time
}

// Tested says that the promise was put to the test here: that it could have been
// broken.
func (m *Moment) Tested() { m.tested++ }

// Broken says that this moment by itself shows a breach, whatever else was or wasn't recorded. Format and args say why,
// as for fmt.Sprintf. The objects among args are what stood then.
func (m *Moment) Broken(format string, args ...any) *Breach {
	return m.record(true, format, args...)
}

// Suspect is Broken for what is a breach unless something before it is missing in the recording: something did not
// come, or came in the wrong order.
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

// Judge judges a history by several checks and returns their findings in the order
// of the checks. Those made by Follow go through the history together, once, which
// costs much less than one after the other.
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
		read = joint(read, f.reads, len(all) == 1)
	}
	if len(all) > 0 {
		through(h, all, read)
	}
	return findings
}

// following is one Follow on its way through a history.
type following struct {
	follow
	monitor Monitor
	moment  Moment
	over    bool
	into    *Finding
}

func through(h *history.History, all []*following, read []schema.GroupVersionResource) {
	start := h.Start()
	w := only(start, read)
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
			*f.into = judgement{f, h}.ended(f.moment.tested, f.untested)
		}
	}
}

// show makes a moment of an event for those who read it. at is the index of what was recorded.
func show(h *history.History, all []*following, at int, e *history.Event, before *history.Object) {
	for _, f := range all {
		if !f.over && reads(f.reads, e.Resource) {
			f.moment.Event, f.moment.Before, f.moment.Time = e, before, e.Time
			f.step(h, at)
		}
	}
}

// step lets the monitor observe the moment, which is after the event at this index.
func (f *following) step(h *history.History, at int) {
	if f.monitor.Observe(&f.moment); f.moment.breach != nil {
		f.over = true
		*f.into = f.found(judgement{f, h}, &f.moment, at)
	}
}

// decodeAhead decodes objects on the other cores, since decoding is most of what
// judging costs; not Kubernetes Events, of which most are never looked at. The
// function that it returns ends it.
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

// joint is what two read together; all, if one reads all. As long as there is but
// one, it is what this one reads.
func joint(a, b []schema.GroupVersionResource, first bool) []schema.GroupVersionResource {
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

// only is the part of a world that is of these resources; all, if there are none.
func only(w *history.World, some []schema.GroupVersionResource) *history.World {
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
