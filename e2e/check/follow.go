package check

import (
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/plumbline-e2e/plumbline/e2e/history"
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
	// World is the state of the resources that the follower reads, and of no
	// others, right after the event. It is moved on by the next one.
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

func (f follow) Judge(h *history.History) Finding {
	j, next := judgement{f, h}, f.begin()
	m := &Moment{World: only(h.Start(), f.reads), Time: h.Start().Time()}
	if next(m); m.breach != nil {
		return f.found(j, m, -1)
	}
	events := h.Events()
	for i := range events {
		e := &events[i]
		if !reads(f.reads, e.Resource) {
			continue
		}
		m.Event, m.Time = e, e.Time
		m.Before = m.World.Get(e.Resource, e.Object.Namespace, e.Object.Name)
		m.World.Apply(*e)
		if next(m); m.breach != nil {
			return f.found(j, m, i)
		}
	}
	m.Event, m.Before, m.Time, m.End = nil, nil, h.Taken(), true
	if next(m); m.breach != nil {
		return f.found(j, m, -1)
	}
	return j.ended(m.tested, f.missing)
}

func (f follow) found(j judgement, m *Moment, at int) Finding {
	found := j.broken(at, m.breach.standing, m.breach.reason)
	found.Tested = m.tested
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
