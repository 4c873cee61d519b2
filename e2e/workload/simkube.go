package workload

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	utiljson "k8s.io/apimachinery/pkg/util/json"
)

// simKubeVersion is the version of SimKube's traces that can be read, that of SimKube 2 (its documentation:
// docs/ref/trace-files).
const simKubeVersion = 2

// isSimKube reports whether a file is a trace of SimKube: a map in MessagePack, or one in JSON with events.
func isSimKube(data []byte) bool {
	if len(data) > 0 && (data[0]&0xf0 == 0x80 || data[0] == 0xde || data[0] == 0xdf) {
		return true
	}
	return isJSONWith(data, "events")
}

func isJSON(data []byte) bool { return bytes.HasPrefix(bytes.TrimSpace(data), []byte("{")) }

// isJSONWith reports whether a file is an object in JSON with all of these fields.
func isJSONWith(data []byte, fields ...string) bool {
	var content map[string]json.RawMessage
	return isJSON(data) && json.Unmarshal(data, &content) == nil &&
		!slices.ContainsFunc(fields, func(f string) bool { return content[f] == nil })
}

// simKube adds the events of a trace, at their times since the first one.
func (r *reader) simKube(data []byte) error {
	var trace any
	var err error
	if isJSON(data) {
		err = utiljson.Unmarshal(data, &trace)
	} else {
		trace, err = unpack(data)
	}
	if err != nil {
		return fmt.Errorf("not a trace of SimKube: %w", err)
	}
	content, _ := trace.(map[string]any)
	if version, is := integer(content["version"]); !is || version != simKubeVersion {
		return fmt.Errorf("a trace of SimKube of version %v; only version %d can be read", content["version"], simKubeVersion)
	}
	events, is := content["events"].([]any)
	if !is || len(events) == 0 {
		return errors.New("a trace of SimKube without events")
	}
	var wrong []error
	var began int64
	for i, e := range events {
		event, _ := e.(map[string]any)
		ts, is := integer(event["ts"])
		if !is {
			return fmt.Errorf("event %d of the trace: it has no time, ts, in seconds", i+1)
		}
		if i == 0 {
			began = ts
		}
		at := time.Duration(ts-began) * time.Second
		r.Length = max(r.Length, at)
		for _, kind := range []string{"applied_objs", "deleted_objs"} {
			objects, _ := event[kind].([]any)
			for n, o := range objects {
				if err := r.add(at, o, kind == "deleted_objs"); err != nil {
					wrong = append(wrong, fmt.Errorf("event %d of the trace, object %d of %s: %w", i+1, n+1, kind, err))
				}
			}
		}
	}
	r.Length += standing / 2 // for what Karpenter does after the last event
	return errors.Join(wrong...)
}

func integer(v any) (int64, bool) {
	n, is := v.(int64)
	return n, is
}
