package history

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"
)

// The lines of a file:
//
//	{"history":2,"start":"2026-01-02T15:04:05.123456789Z"}
//	{"type":"START","resource":"v1/nodes","object":{...}}      the world at the start
//	{"at":"...","type":"ADDED","resource":"karpenter.sh/v1/nodeclaims","revision":17,"object":{...}}
//	{"at":"...","type":"GAP","resource":"v1/pods","reason":"..."}       and "asked":true, if it was
//	{"at":"...","type":"END"}                                   nothing is missing
const (
	// formatVersion is 2 since the harness reports by Events what specs delete and how far the clock jumps.
	formatVersion = 2
	typeGap       = "GAP"
	typeEnd       = "END"
)

type line struct {
	History  int             `json:"history,omitempty"`
	Start    *time.Time      `json:"start,omitempty"`
	At       time.Time       `json:"at,omitzero"`
	Type     string          `json:"type,omitempty"`
	Resource string          `json:"resource,omitempty"`
	Revision uint64          `json:"revision,omitempty"`
	Reason   string          `json:"reason,omitempty"`
	Asked    bool            `json:"asked,omitempty"`
	Object   json.RawMessage `json:"object,omitempty"`
}

func appendHeader(b []byte, start time.Time) []byte {
	b = fmt.Appendf(b, `{"history":%d,"start":"`, formatVersion)
	b = start.AppendFormat(b, time.RFC3339Nano)
	return append(b, "\"}\n"...)
}

// appendEvent copies the object's JSON, which is on one line.
func appendEvent(b []byte, e Event) []byte {
	b = append(b, '{')
	if e.Type != typeStart {
		b = appendTime(b, e.Time)
		b = append(b, ',')
	}
	b = append(b, `"type":"`...)
	b = append(b, e.Type...)
	b = append(b, `","resource":"`...)
	b = appendResource(b, e.Resource)
	b = append(b, '"')
	if e.revision > 0 {
		b = append(b, `,"revision":`...)
		b = strconv.AppendUint(b, e.revision, 10)
	}
	b = append(b, `,"object":`...)
	b = append(b, e.Object.raw...)
	return append(b, "}\n"...)
}

func appendGap(b []byte, g Gap) []byte {
	reason, err := json.Marshal(g.Reason)
	if err != nil { // never for a string
		reason = []byte(`""`)
	}
	b = append(b, '{')
	b = appendTime(b, g.Time)
	b = append(b, `,"type":"`+typeGap+`","resource":"`...)
	if !g.Resource.Empty() {
		b = appendResource(b, g.Resource)
	}
	b = append(b, `","reason":`...)
	b = append(b, reason...)
	if g.Asked {
		b = append(b, `,"asked":true`...)
	}
	return append(b, "}\n"...)
}

func appendEnd(b []byte, at time.Time) []byte {
	b = append(b, '{')
	b = appendTime(b, at)
	return append(b, `,"type":"`+typeEnd+"\"}\n"...)
}

func appendTime(b []byte, t time.Time) []byte {
	b = append(b, `"at":"`...)
	b = t.AppendFormat(b, time.RFC3339Nano)
	return append(b, '"')
}

func appendResource(b []byte, r schema.GroupVersionResource) []byte {
	if r.Group != "" {
		b = append(append(b, r.Group...), '/')
	}
	b = append(append(b, r.Version...), '/')
	return append(b, r.Resource...)
}

func parseResource(s string) (schema.GroupVersionResource, error) {
	switch parts := strings.Split(s, "/"); len(parts) {
	case 2:
		return schema.GroupVersionResource{Version: parts[0], Resource: parts[1]}, nil
	case 3:
		return schema.GroupVersionResource{Group: parts[0], Version: parts[1], Resource: parts[2]}, nil
	default:
		return schema.GroupVersionResource{},
			fmt.Errorf("resource %q; it should be like v1/pods or karpenter.sh/v1/nodeclaims", s)
	}
}
