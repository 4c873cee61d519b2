package timeline

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
)

// WritePerfetto writes timelines as a trace for https://ui.perfetto.dev: its tracks are the lanes, in their order. A
// second timeline is shown on the first one's axis, so its times are shifted to the first one's start. The trace's
// clock is the first one's cluster's.
//
// What broke, what the recording lacks and the logs have tracks of their own.
func WritePerfetto(w io.Writer, timelines ...*Timeline) error {
	if len(timelines) == 0 {
		return errNothing
	}
	t := tracer{start: timelines[0].Start.UnixNano()}
	for i, recording := range timelines {
		t.recording(i, recording)
	}
	slices.SortStableFunc(t.events, func(a, b moment) int { return cmp.Compare(a.at, b.at) })
	var trace message
	trace = trace.embed(tracePacket, t.clock())
	for _, track := range t.tracks {
		trace = trace.embed(tracePacket, packet(t.start).embed(packetTrackDescriptor, track))
	}
	for _, e := range t.events {
		trace = trace.embed(tracePacket, packet(e.at).embed(packetTrackEvent, e.event))
	}
	_, err := io.Copy(w, bytes.NewReader(trace))
	return err
}

// errNothing is the error about no timelines.
var errNothing = errors.New("there is no timeline to show")

// tracer makes the packets of a trace.
type tracer struct {
	start  int64 // in nanoseconds since 1970
	tracks []message
	events []moment
}

// moment is a TrackEvent with its time, in nanoseconds since 1970.
type moment struct {
	at    int64
	event message
}

// clock returns a packet that says that the trace's clock shows the time of day.
func (t *tracer) clock() message {
	var snapshot message
	for _, id := range []uint64{clockBoottime, clockRealtime} {
		var clock message
		clock = clock.varint(clockID, id).varint(clockTimestamp, uint64(t.start)) //nolint:gosec // after 1970
		snapshot = snapshot.embed(snapshotClocks, clock)
	}
	return packet(t.start).embed(packetClockSnapshot, snapshot)
}

// time returns the time of a moment of a recording.
func (t *tracer) time(seconds float64) int64 { return t.start + int64(math.Round(seconds*1e9)) }

// track is a TrackDescriptor in the making.
type track struct {
	parent  uint64 // 0: none
	rank    int    // among its siblings
	name    string
	about   string
	counter message // of a counter
}

// add adds a track, and returns its UUID.
func (t *tracer) add(x track) uint64 {
	uuid := uint64(len(t.tracks) + 1)
	var m message
	m = m.varint(trackUUID, uuid).text(trackName, x.name).text(trackDescription, x.about).
		varint(trackChildOrdering, orderingExplicit).
		varint(trackSiblingOrderRank, uint64(x.rank)). //nolint:gosec // it is an index
		varint(trackSiblingMergeBehavior, mergeNone)   // another object of the same name is another track
	if x.parent != 0 {
		m = m.varint(trackParentUUID, x.parent)
	}
	if x.counter != nil {
		m = m.embed(trackCounter, x.counter)
	}
	t.tracks = append(t.tracks, m)
	return uuid
}

// recording adds the tracks of a timeline, below one for all of them.
func (t *tracer) recording(rank int, recording *Timeline) {
	about := "began at " + recording.Start.UTC().Format("2006-01-02 15:04:05.000 MST") + ", by its cluster's clock"
	root := t.add(track{rank: rank, name: recording.Title, about: about})
	next := 0
	child := func(name string) uint64 {
		next++
		return t.add(track{parent: root, rank: next, name: name})
	}
	if len(recording.Breaches) > 0 {
		t.breaches(child("What broke"), recording)
	}
	if len(recording.Gaps) > 0 {
		gaps := child("Gaps in the recording")
		for _, gap := range recording.Gaps {
			t.instant(gaps, gap.At, "gap", gap.Text, nil)
		}
	}
	t.lanes(root, next+1, recording)
	next += len(recording.Lanes)
	logs := map[string]uint64{}
	for _, line := range recording.Logs {
		if logs[line.Source] == 0 {
			logs[line.Source] = child(line.Source)
		}
		t.instant(logs[line.Source], line.At, "log", line.Text, nil)
	}
}

// breaches adds the promises that a recording breaks. One that no event broke is shown at the end.
func (t *tracer) breaches(on uint64, recording *Timeline) {
	for _, b := range recording.Breaches {
		at, notes := recording.Length, message(nil)
		if b.Event >= 0 {
			e := recording.Events[b.Event]
			o := recording.Objects[e.Object]
			at = e.At
			notes = notes.note("object", o.Kind+" "+o.Name).note("what", e.What).number("event", b.Event+1)
		}
		t.instant(on, at, "breach", b.Text, notes)
	}
}

// lanes adds the tracks of lanes. A lane's parent is the nearest one above it that is less deep.
func (t *tracer) lanes(root uint64, rank int, recording *Timeline) {
	type above struct {
		depth int
		uuid  uint64
	}
	var open []above
	for i, lane := range recording.Lanes {
		for len(open) > 0 && open[len(open)-1].depth >= lane.Depth {
			open = open[:len(open)-1]
		}
		parent := root
		if len(open) > 0 {
			parent = open[len(open)-1].uuid
		}
		uuid := t.add(track{parent: parent, rank: rank + i, name: lane.label()})
		open = append(open, above{lane.Depth, uuid})
		for _, s := range lane.Spans {
			t.slice(uuid, s)
		}
		for _, m := range lane.Marks {
			t.instant(uuid, m.At, m.Kind, m.Text, message(nil).number("event", m.Event+1))
		}
		t.quantities(uuid, lane)
	}
}

// label returns a lane's name for people.
func (l Lane) label() string {
	if l.Object < 0 {
		return l.Name
	}
	return l.Kind + " " + l.Name
}

// quantities adds the counters of a lane's points, on one axis: what is used, and what is allowed, if that is ever
// bounded.
func (t *tracer) quantities(parent uint64, lane Lane) {
	if len(lane.Points) == 0 {
		return
	}
	unit := uint64(unitCount)
	if slices.Contains([]string{"memory", "ephemeral-storage"}, lane.Name) {
		unit = unitSizeBytes
	}
	var counter message
	counter = counter.varint(counterUnit, unit).text(counterYAxisShareKey, lane.Name)
	names := map[string][2]string{"Budget": {"disrupting", "allowed disruptions"}}[lane.Kind]
	used := t.add(track{parent: parent, rank: 0, name: cmp.Or(names[0], "used"), counter: counter})
	bounded := func(p Point) bool { return p.Allowed >= 0 }
	allowed := uint64(0)
	if slices.ContainsFunc(lane.Points, bounded) {
		allowed = t.add(track{
			parent: parent, rank: 1, name: cmp.Or(names[1], "limit"), about: "-1: there is no bound", counter: counter,
		})
	}
	for _, p := range lane.Points {
		t.count(used, p.At, p.Used)
		if allowed != 0 {
			t.count(allowed, p.At, p.Allowed)
		}
	}
}

func (t *tracer) slice(on uint64, s Span) {
	begin := event(typeSliceBegin, on).text(eventCategories, "state").text(eventName, s.State)
	t.events = append(t.events, moment{t.time(s.From), begin}, moment{t.time(s.To), event(typeSliceEnd, on)})
}

// instant adds a moment with a text. The beginning of the text is its name, the rest is in its details.
func (t *tracer) instant(on uint64, at float64, category, text string, notes message) {
	name := text
	for _, end := range []string{"\n", "  ", ": "} {
		name, _, _ = strings.Cut(name, end)
	}
	m := event(typeInstant, on).text(eventCategories, category).text(eventName, name).note("text", text)
	t.events = append(t.events, moment{t.time(at), append(m, notes...)})
}

func (t *tracer) count(on uint64, at, value float64) {
	t.events = append(t.events, moment{t.time(at), event(typeCounter, on).double(eventDoubleCounterValue, value)})
}

// note adds a DebugAnnotation to a TrackEvent, unless its value is empty.
func (m message) note(name, value string) message {
	if value == "" {
		return m
	}
	var annotation message
	return m.embed(eventDebugAnnotations, annotation.text(annotationName, name).text(annotationStringValue, value))
}

// number adds a DebugAnnotation with a number, unless that is 0.
func (m message) number(name string, value int) message {
	if value == 0 {
		return m
	}
	return m.note(name, fmt.Sprint(value))
}
