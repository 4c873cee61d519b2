package history

import (
	"cmp"
	"slices"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"
)

// Event is one change of an object, as the API server reported it.
type Event struct {
	Time     time.Time                   // when the recorder received it
	Type     watch.EventType             // ADDED, MODIFIED or DELETED
	Resource schema.GroupVersionResource // what kind of thing
	Object   *Object                     // the object after the event; for DELETED its last state

	// revision is the etcd revision of the event; 0 if unknown (hand-written). See order.go.
	revision uint64
}

// is reports whether two events of a recording are the same.
func (e Event) is(other Event) bool {
	return e.Object == other.Object && e.Type == other.Type && e.Time.Equal(other.Time)
}

// Mark is a moment of a recording, with the world at that moment. It is valid only for that
// recording.
type Mark struct {
	events int           // number of events before it
	world  func() *World // made once; nil: empty
}

// World returns a copy of the cluster's state at that moment.
func (m Mark) World() *World {
	if m.world == nil {
		return &World{}
	}
	return m.world().clone()
}

// Gap is a moment at which the recording may lack events.
type Gap struct {
	Time     time.Time                   // when the recorder noticed
	Resource schema.GroupVersionResource // zero: events of any kind may be missing
	Reason   string
	Asked    bool // the harness broke the watch on purpose: see Recorder.Interrupt

	at int // number of events before it
}

// History is the world at a moment and every event from then until the view was taken. It
// never changes.
type History struct {
	log   []Event // of the whole recording; those before from make the world at from
	gaps  []Gap
	from  int       // number of events before the start
	began time.Time // when the log starts
	taken time.Time // when the view was taken
	older bool      // it was loaded from a file of an older format

	ordered func() []Event // log[from:] in the order in which they happened
	start   func() *World  // returns the world at from, made once
}

// New returns a history made by hand, which starts with an empty world. Events happen in the
// given order. New(events, nil).From(n) starts with the world that the first n events make.
func New(events []Event, gaps []Gap) *History {
	placed := slices.Clone(gaps)
	for i, g := range placed {
		placed[i].at = len(events)
		if at := slices.IndexFunc(events, func(e Event) bool { return e.Time.After(g.Time) }); at >= 0 {
			placed[i].at = at
		}
	}
	slices.SortStableFunc(placed, func(a, b Gap) int { return cmp.Compare(a.at, b.at) })
	var last time.Time
	for _, e := range events {
		last = later(last, e.Time)
	}
	return view(slices.Clone(events), placed, 0, time.Time{}, last)
}

func view(log []Event, gaps []Gap, from int, began, taken time.Time) *History {
	return &History{
		log:     slices.Clip(log),
		gaps:    slices.Clip(gaps),
		from:    from,
		began:   began,
		taken:   taken,
		ordered: sync.OnceValue(func() []Event { return inOrder(log[from:]) }),
		start: sync.OnceValue(func() *World {
			w := &World{time: began}
			for _, e := range log[:from] {
				w.Apply(e)
			}
			return w
		}),
	}
}

// Events returns the history's events in the order in which they happened. It leaves out those
// that made the world at the start. The slice is shared: read only.
func (h *History) Events() []Event { return h.ordered() }

// Place returns an event's index in the log of the whole recording, and its time since the
// recording began. So parts of a recording refer to an event in the same way.
func (h *History) Place(i int) (number int, offset time.Duration) {
	e := h.Events()[i]
	return slices.IndexFunc(h.log, e.is), h.Offset(e.Time)
}

// IndexOf returns the index in Events of an event of the whole recording, by the number that
// Place returns; -1 if it isn't among them.
func (h *History) IndexOf(number int) int {
	if number < 0 || number >= len(h.log) {
		return -1
	}
	return slices.IndexFunc(h.Events(), h.log[number].is)
}

// Offset returns the time from the beginning of the whole recording until t.
func (h *History) Offset(t time.Time) time.Duration {
	began := h.began
	if began.IsZero() && len(h.log) > 0 {
		began = h.log[0].Time
	}
	return t.Sub(began)
}

// Older reports whether the history was loaded from a file of an older format, in which the harness didn't report all
// that specs do.
func (h *History) Older() bool { return h.older }

// Gaps returns the gaps since the start of the history. A history with a gap can't prove that
// something did not happen. The slice is shared: read only.
func (h *History) Gaps() []Gap {
	first := slices.IndexFunc(h.gaps, func(g Gap) bool { return g.at >= h.from })
	if first < 0 {
		return nil
	}
	return h.gaps[first:]
}

// AfterInterruption returns the part of the history after the last interruption on purpose. It
// starts with the world that the API server had when it was back. It returns false if the
// history has no interruption.
func (h *History) AfterInterruption() (*History, bool) {
	for i, g := range slices.Backward(h.gaps) {
		if !g.Asked || g.at < h.from {
			continue
		}
		return view(h.log, h.gaps[i+1:], h.after(g), h.began, h.taken), true
	}
	return nil, false
}

// Stretches returns the parts of the history between its gaps, in order; the history itself if it has none. Each
// starts with the world after the gap before it, and ends with its last event: how long a gap is, it doesn't say.
func (h *History) Stretches() []*History {
	var all []*History
	from := h.from
	for _, g := range h.Gaps() {
		if g.at > from {
			all = append(all, view(h.log[:g.at], nil, from, h.began, h.log[g.at-1].Time))
		}
		from = h.after(g)
	}
	if from < len(h.log) || len(all) == 0 {
		all = append(all, view(h.log, nil, from, h.began, h.taken))
	}
	return all
}

// after returns the number of events up to a gap, and those that are recorded for what the gap hides: they have its
// time.
func (h *History) after(g Gap) int {
	from := g.at
	for from < len(h.log) && h.log[from].Time.Equal(g.Time) && (g.Resource.Empty() || h.log[from].Resource == g.Resource) {
		from++
	}
	return from
}

// Between returns the part of the history from one time to another. A zero time is the start, or the end.
func (h *History) Between(from, to time.Time) *History {
	first, last, taken := h.from, len(h.log), h.taken
	if i := slices.IndexFunc(h.log[h.from:], func(e Event) bool { return !e.Time.Before(from) }); i >= 0 {
		first = h.from + i
	} else if !from.IsZero() {
		first = len(h.log)
	}
	if !to.IsZero() && to.Before(taken) {
		taken = to
		if i := slices.IndexFunc(h.log[first:], func(e Event) bool { return e.Time.After(to) }); i >= 0 {
			last = first + i
		}
	}
	gaps := slices.DeleteFunc(slices.Clone(h.gaps), func(g Gap) bool { return g.at > last })
	return view(h.log[:last], gaps, first, h.began, taken)
}

// Start returns a copy of the world at the start of the history. Apply moves it on.
func (h *History) Start() *World { return h.start().clone() }

// End returns a copy of the world after the last event.
func (h *History) End() *World {
	w := h.Start()
	for _, e := range h.Events() {
		w.Apply(e)
	}
	return w
}

// Since returns the part of the history after a mark of the same recording: all of it if the
// mark is before its start, none if it is after its end.
func (h *History) Since(m Mark) *History { return h.From(m.events) }

// From returns the part of the history after the first n events of the whole recording. These
// include the events that made the world at its start.
func (h *History) From(n int) *History {
	return view(h.log, h.gaps, min(max(n, h.from), len(h.log)), h.began, h.taken)
}

// Mark returns the end of the history as a mark of its recording.
func (h *History) Mark() Mark { return Mark{len(h.log), sync.OnceValue(h.End)} }

// StartMark returns the start of the history as a mark of its recording.
func (h *History) StartMark() Mark { return Mark{h.from, h.start} }

// Taken returns the time at which the history ends: when it was taken from the recorder, when
// the recording was stopped, or the time of the last event.
func (h *History) Taken() time.Time { return h.taken }

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}
