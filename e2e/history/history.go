package history

import (
	"cmp"
	"slices"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"
)

// Event is one thing that the API server said.
type Event struct {
	Time     time.Time                   // when the recorder received it
	Type     watch.EventType             // ADDED, MODIFIED or DELETED
	Resource schema.GroupVersionResource // what kind of thing
	Object   *Object                     // the object after the event; for DELETED its last state

	// revision is the point in etcd's history at which it happened, 0 if that
	// is unknown (hand-written events): see order.go.
	revision uint64
}

// Mark is a moment of a recording, with the world as it was then. It has a meaning
// only in the recording that it was taken from.
type Mark struct {
	events int           // before it
	world  func() *World // made once; nil: empty
}

// World is the state of the cluster at that moment: a fresh copy.
func (m Mark) World() *World {
	if m.world == nil {
		return &World{}
	}
	return m.world().clone()
}

// Gap says that something may have happened that the recording lacks.
type Gap struct {
	Time     time.Time                   // when the recorder noticed
	Resource schema.GroupVersionResource // what kind of thing; zero if any may be missing
	Reason   string
	Asked    bool // the harness took the API server away on purpose: see Recorder.Interrupt

	at int // the events before it
}

// History is what was recorded: the world at a moment, and every event from
// there up to when the view was taken. It never changes.
type History struct {
	log   []Event // as received; those before from only make up the world at from
	gaps  []Gap
	from  int       // the events before the start
	began time.Time // when the log starts
	taken time.Time // when the view was taken

	ordered func() []Event // log[from:] in the order in which it happened
	start   func() *World  // the world at from, made once
}

// New is a history written by hand, which begins with an empty world. Events
// happen in the order in which they are given. Where the world should not be
// empty, let the first n events make it: New(events, nil).From(n).
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
		last = latest(last, e.Time)
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

// Events are the events of the history in the order in which they happened,
// without those that made the world that it starts with. The slice is shared:
// read only.
func (h *History) Events() []Event { return h.ordered() }

// Place is where the event with this index stands in the whole recording, of which the
// history may be a part: its number as it was received, from 0, and how long it came after
// the recording began. So an event has one number and one time, whoever speaks of it.
func (h *History) Place(i int) (number int, offset time.Duration) {
	e := h.Events()[i]
	number = slices.IndexFunc(h.log, func(l Event) bool { return l.Object == e.Object && l.Type == e.Type && l.Time.Equal(e.Time) })
	return number, h.Offset(e.Time)
}

// Offset is how long after the beginning of the whole recording a moment was.
func (h *History) Offset(t time.Time) time.Duration {
	began := h.began
	if began.IsZero() && len(h.log) > 0 {
		began = h.log[0].Time
	}
	return t.Sub(began)
}

// Gaps are the moments from the start of the history on at which something may
// be missing; a history with a gap proves what it shows, and nothing by what it
// doesn't show. The slice is shared: read only.
func (h *History) Gaps() []Gap {
	first := slices.IndexFunc(h.gaps, func(g Gap) bool { return g.at >= h.from })
	if first < 0 {
		return nil
	}
	return h.gaps[first:]
}

// AfterInterruption is the part of the history from when the API server was last
// back after it had been taken away on purpose: what stood then is the world at
// its start. It is false of a history that wasn't interrupted.
func (h *History) AfterInterruption() (*History, bool) {
	for i, g := range slices.Backward(h.gaps) {
		if !g.Asked || g.at < h.from {
			continue
		}
		// The events that the list showed came in one step with the gap.
		from := g.at
		for from < len(h.log) && h.log[from].Resource == g.Resource && h.log[from].Time.Equal(g.Time) {
			from++
		}
		return view(h.log, h.gaps[i+1:], from, h.began, h.taken), true
	}
	return nil, false
}

// Start is the world at the start of the history: a fresh copy, to be moved on
// with Apply.
func (h *History) Start() *World { return h.start().clone() }

// End is the world after the last event: a fresh copy.
func (h *History) End() *World {
	w := h.Start()
	for _, e := range h.Events() {
		w.Apply(e)
	}
	return w
}

// Since is the part of the history after a mark of the same recording. A mark
// before its start gives the whole history, one after its end an empty one.
func (h *History) Since(m Mark) *History { return h.From(m.events) }

// From is the part of the history after the first n events of its recording, those of the
// world at its start among them.
func (h *History) From(n int) *History {
	return view(h.log, h.gaps, min(max(n, h.from), len(h.log)), h.began, h.taken)
}

// Mark is the moment up to which the history goes, of the recording that it was
// taken from.
func (h *History) Mark() Mark { return Mark{len(h.log), sync.OnceValue(h.End)} }

// StartMark is the moment at which the history starts.
func (h *History) StartMark() Mark { return Mark{h.from, h.start} }

// Taken is the moment up to which the history goes: when it was taken from the
// recorder, when the recording was stopped, or the time of the last event.
func (h *History) Taken() time.Time { return h.taken }

func latest(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}
