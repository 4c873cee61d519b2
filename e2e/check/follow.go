package check

import (
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

// Follow is a check that keeps a memory of its own, for promises about how things
// follow one another that would read badly as claims. For each judgement begin
// makes a follower, which is called with the world at the start, after each event
// of the resources that it reads (of any, if there are none), and at the end. words
// say what is promised, missing what never happened if nothing put it to the test.
//
// The first breach is the finding. A follower should do little at each event: it is
// told what the event replaced, and needn't search the world.
func Follow(words, missing string, begin func() func(*Moment), reads ...schema.GroupVersionResource) Check {
	return follow{words, missing, begin, reads}
}

// Moment is what a follower is shown.
type Moment struct {
	// World is the state of the resources that the follower reads (that of others
	// may be missing), right after the event. It is moved on by the next one.
	World *history.World
	// Event is what happened; nil at the start and at the end.
	Event *history.Event
	// Before is the state that the event replaced, nil if there was none.
	Before *history.Object
	// Time is when the event was received; at the end, up to when the history
	// goes.
	Time time.Time
	// End says that the history is over.
	End bool

	tested int
	breach *breach
}

type breach struct {
	reason, standing string
	proven           bool
}

// Tested says that the promise was put to the test here: that it could have been
// broken.
func (m *Moment) Tested() { m.tested++ }

// Broken says that this moment by itself shows a breach, whatever else was or wasn't
// recorded. The objects are what stood then.
func (m *Moment) Broken(reason string, stood ...*history.Object) { m.record(reason, true, stood) }

// Suspect says that this is a breach unless something before it is missing in the
// recording: something did not come, or came in the wrong order.
func (m *Moment) Suspect(reason string, stood ...*history.Object) { m.record(reason, false, stood) }

func (m *Moment) record(reason string, proven bool, stood []*history.Object) {
	if m.breach == nil {
		m.breach = &breach{reason, strings.TrimPrefix(lines(stood), "\n  "), proven}
	}
}

type follow struct {
	words, missing string
	begin          func() func(*Moment)
	reads          []schema.GroupVersionResource
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
		all = append(all, &following{follow: f, next: f.begin(), into: &findings[i]})
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
	next   func(*Moment)
	moment Moment
	over   bool
	into   *Finding
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
		w.Apply(*e)
		for _, f := range all {
			if !f.over && reads(f.reads, e.Resource) {
				f.moment.Event, f.moment.Before, f.moment.Time = e, before, e.Time
				f.step(h, i)
			}
		}
	}
	for _, f := range all {
		if f.over {
			continue
		}
		f.moment.Event, f.moment.Before, f.moment.Time, f.moment.End = nil, nil, h.Taken(), true
		if f.step(h, -1); !f.over {
			*f.into = judgement{f, h}.ended(f.moment.tested, f.missing)
		}
	}
}

// step shows the follower the moment, which is after the event at this index.
func (f *following) step(h *history.History, at int) {
	if f.next(&f.moment); f.moment.breach != nil {
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
	found := j.broken(at, 0, "", m.breach.standing)
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
