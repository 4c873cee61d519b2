// Package history records everything that the API server says and gives it
// back as a sequence of events that can be judged.
//
// A Recorder watches; a History is what was recorded up to a moment; a World
// is the state that the events add up to.
package history

import (
	"encoding/json"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"
)

// Event is one thing that the API server said.
type Event struct {
	Time     time.Time                   // when the recorder received it
	Type     watch.EventType             // ADDED, MODIFIED or DELETED
	Resource schema.GroupVersionResource // what kind of thing
	Object   *Object                     // the object after the event; for DELETED its last state
}

// Object is one state of one API object. It keeps the bytes as they came and
// decodes them the first time that somebody asks, since most are never asked.
type Object struct {
	Namespace, Name, UID, ResourceVersion string

	raw    json.RawMessage
	once   sync.Once
	parsed *unstructured.Unstructured
}

// Mark is a moment of a recording: the number of events before it.
type Mark int
