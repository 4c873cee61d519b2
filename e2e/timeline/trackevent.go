package timeline

import (
	"math"

	"google.golang.org/protobuf/encoding/protowire"
)

// Fields of messages, by the message and the field, from https://github.com/google/perfetto, protos/perfetto/trace.
const (
	// Trace, trace.proto.
	tracePacket = 1

	// TracePacket, trace_packet.proto.
	packetClockSnapshot   = 6
	packetTimestamp       = 8
	packetTrustedSequence = 10 // trusted_packet_sequence_id
	packetTrackEvent      = 11
	packetTrackDescriptor = 60

	// ClockSnapshot and its Clock, clock_snapshot.proto.
	snapshotClocks = 1
	clockID        = 1
	clockTimestamp = 2

	// TrackDescriptor, track_event/track_descriptor.proto.
	trackUUID                 = 1
	trackName                 = 2
	trackParentUUID           = 5
	trackCounter              = 8
	trackChildOrdering        = 11
	trackSiblingOrderRank     = 12
	trackDescription          = 14
	trackSiblingMergeBehavior = 15

	// CounterDescriptor, track_event/counter_descriptor.proto.
	counterUnit          = 3
	counterYAxisShareKey = 7

	// TrackEvent, track_event/track_event.proto.
	eventDebugAnnotations   = 4
	eventType               = 9
	eventTrackUUID          = 11
	eventCategories         = 22
	eventName               = 23
	eventDoubleCounterValue = 44

	// DebugAnnotation, track_event/debug_annotation.proto.
	annotationStringValue = 6
	annotationName        = 10
)

// Values of enumerations, from the same files.
const (
	clockRealtime = 1 // ClockSnapshot.Clock.BuiltinClocks
	clockBoottime = 6 // the trace's clock unless a packet says another

	orderingExplicit = 3 // TrackDescriptor.ChildTracksOrdering
	mergeNone        = 2 // TrackDescriptor.SiblingMergeBehavior

	unitCount     = 2 // CounterDescriptor.Unit
	unitSizeBytes = 3

	typeSliceBegin = 1 // TrackEvent.Type
	typeSliceEnd   = 2
	typeInstant    = 3
	typeCounter    = 4
)

// sequence is the trace's only sequence of packets. Names are written in full, so that it has no state.
const sequence = 1

// message is a protobuf message in the making.
type message []byte

func (m message) varint(field protowire.Number, value uint64) message {
	return protowire.AppendVarint(protowire.AppendTag(m, field, protowire.VarintType), value)
}

// text adds a string, unless it is empty.
func (m message) text(field protowire.Number, value string) message {
	if value == "" {
		return m
	}
	return protowire.AppendString(protowire.AppendTag(m, field, protowire.BytesType), value)
}

func (m message) double(field protowire.Number, value float64) message {
	return protowire.AppendFixed64(protowire.AppendTag(m, field, protowire.Fixed64Type), math.Float64bits(value))
}

// embed adds another message.
func (m message) embed(field protowire.Number, inner message) message {
	return protowire.AppendBytes(protowire.AppendTag(m, field, protowire.BytesType), inner)
}

// packet returns a TracePacket of a time, in nanoseconds since 1970.
func packet(at int64) message {
	var m message
	return m.varint(packetTimestamp, uint64(at)).varint(packetTrustedSequence, sequence) //nolint:gosec // after 1970
}

// event returns a TrackEvent of a type on a track.
func event(kind, track uint64) message {
	var m message
	return m.varint(eventType, kind).varint(eventTrackUUID, track)
}
