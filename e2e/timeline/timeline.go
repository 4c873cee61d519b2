// Package timeline turns a recording into what a page can show: lanes of pools, NodeClaims, nodes and pods, with
// what happened to them, and each object at each moment.
//
// The page needs no network. It rebuilds an object at a moment from its first version and the
// JSON merge patches (RFC 7386) since then. It draws on a canvas: a frame of ten thousand events takes less than 1 ms,
// while SVG took 133 ms, and vis-timeline 46 to 73 ms and at worst 0.4 s.
package timeline

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	jsonpatch "gopkg.in/evanphx/json-patch.v4"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/e2e/history"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
)

// Timeline is one recording. All times are seconds since it began, by its cluster's clock.
type Timeline struct {
	Title    string    `json:"title"`
	Start    time.Time `json:"start"`
	Length   float64   `json:"length"`
	Speed    float64   `json:"speed,omitempty"` // of the clock on average; 0: real time
	Objects  []Object  `json:"objects"`
	Events   []Event   `json:"events"`
	Lanes    []Lane    `json:"lanes"`
	Breaches []Breach  `json:"breaches,omitempty"`
	Gaps     []Note    `json:"gaps,omitempty"`
	Logs     []Note    `json:"logs,omitempty"` // what the controller and the simulated cloud logged
}

// Object is an API object from its creation to its end. Another one of the same name is another Object.
type Object struct {
	Kind      string    `json:"kind"`
	Namespace string    `json:"namespace,omitempty"`
	Name      string    `json:"name"`
	Versions  []Version `json:"versions"`
}

// Version is a state of an object. The first has the whole object; the others have what to
// change, as a JSON merge patch.
type Version struct {
	Event int             `json:"event"` // the index of the event; -1: at the start
	Patch json.RawMessage `json:"patch,omitempty"`
	Gone  bool            `json:"gone,omitempty"` // it was deleted
}

// Event is a change of an object.
type Event struct {
	At     float64 `json:"at"`
	Type   string  `json:"type"`           // ADDED, MODIFIED or DELETED
	Object int     `json:"object"`         // its index
	What   string  `json:"what,omitempty"` // what it changed, in words
	By     string  `json:"by,omitempty"`   // who wrote it: managers of fields
}

// Breach is a promise that didn't hold.
type Breach struct {
	Event int    `json:"event"` // the index of the event that broke it; -1: the start or the end did
	Text  string `json:"text"`
}

// Note is something that was said at a time.
type Note struct {
	At     float64 `json:"at"`
	Text   string  `json:"text"`
	Source string  `json:"source,omitempty"` // of a log line: whose log has it
}

// Broken is a promise that a recording breaks, with the number of the event in the whole recording; nil: none.
type Broken struct {
	Number *int
	Text   string
}

// Make returns the timeline of a recording.
func Make(title string, h *history.History, broken []Broken) (*Timeline, error) {
	w := h.Start()
	m := maker{
		Timeline: Timeline{Title: title, Start: w.Time()},
		history:  h,
		current:  map[identity]current{},
	}
	if !w.Time().IsZero() { // else it was made by hand, and begins with its first event
		m.base = h.Offset(w.Time())
	}
	m.Length = m.seconds(h.Taken())
	for _, r := range w.Resources() {
		for _, o := range w.List(r) {
			if _, err := m.see(-1, history.Event{Type: watch.Added, Resource: r, Object: o}); err != nil {
				return nil, err
			}
		}
	}
	for i, e := range h.Events() {
		if err := m.event(i, m.seconds(e.Time), e); err != nil {
			return nil, err
		}
	}
	for _, g := range h.Gaps() {
		m.Gaps = append(m.Gaps, Note{At: m.seconds(g.Time), Text: g.Reason})
	}
	for _, b := range broken {
		at := -1
		if b.Number != nil {
			at = h.IndexOf(*b.Number)
		}
		m.Breaches = append(m.Breaches, Breach{at, b.Text})
	}
	m.Lanes = lanes(h, &m)
	return &m.Timeline, nil
}

type maker struct {
	Timeline
	history *history.History
	base    time.Duration // since the whole recording began, of which this may be a part
	current map[identity]current
}

// seconds returns how long after the timeline's start a time is.
func (m *maker) seconds(t time.Time) float64 { return (m.history.Offset(t) - m.base).Seconds() }

type identity struct {
	resource        schema.GroupVersionResource
	namespace, name string
}

// current is an object as the last event left it.
type current struct {
	index  int
	object *history.Object
	json   []byte
}

func idOf(e history.Event) identity { return identity{e.Resource, e.Object.Namespace, e.Object.Name} }

// event adds an event, and what it made of its object.
func (m *maker) event(i int, at float64, e history.Event) error {
	before := m.current[idOf(e)].object
	if e.Type == watch.Added {
		before = nil
	}
	object, err := m.see(i, e)
	if err != nil {
		return err
	}
	what := check.Change(before, e)
	if what == "" && e.Type != watch.Deleted {
		_, what, _ = strings.Cut(check.Describe(e.Object), ": ")
	}
	m.Events = append(m.Events, Event{
		At: at, Type: string(e.Type), Object: object, What: what, By: writers(before, e.Object),
	})
	return nil
}

// see keeps an object's new version, and returns the object's index.
func (m *maker) see(i int, e history.Event) (int, error) {
	text, err := json.Marshal(e.Object.Unstructured().Object)
	if err != nil {
		return 0, fmt.Errorf("%s: %w", e.Object, err)
	}
	id := idOf(e)
	was, known := m.current[id]
	version := Version{Event: i, Gone: e.Type == watch.Deleted}
	if !known || was.object.UID != e.Object.UID {
		was = current{index: len(m.Objects)}
		m.Objects = append(m.Objects, Object{
			Kind: kindOf(e), Namespace: e.Object.Namespace, Name: e.Object.Name,
		})
		version.Patch = text
	} else if version.Patch, err = jsonpatch.CreateMergePatch(was.json, text); err != nil {
		return 0, fmt.Errorf("%s: %w", e.Object, err)
	}
	o := &m.Objects[was.index]
	o.Versions = append(o.Versions, version)
	if version.Gone {
		delete(m.current, id)
	} else {
		m.current[id] = current{was.index, e.Object, text}
	}
	return was.index, nil
}

// kindOf returns an object's kind, or its resource if a list left the kind out.
func kindOf(e history.Event) string {
	if kind := e.Object.Unstructured().GetKind(); kind != "" {
		return kind
	}
	return e.Resource.Resource
}

// writers returns who changed an object: the managers whose share of its fields is new or another one.
func writers(before, after *history.Object) string {
	had := map[string]bool{}
	for _, m := range managers(before) {
		had[m.key()] = true
	}
	var names []string
	for _, m := range managers(after) {
		name := m.Manager
		if m.Subresource != "" {
			name += " (" + m.Subresource + ")"
		}
		if !had[m.key()] && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return strings.Join(names, ", ")
}

// manager is an entry of metadata.managedFields.
type manager struct {
	Manager, Operation, Subresource, Time string
	FieldsV1                              json.RawMessage
}

func (m manager) key() string {
	return strings.Join([]string{m.Manager, m.Operation, m.Subresource, m.Time, string(m.FieldsV1)}, "|")
}

func managers(o *history.Object) []manager {
	if o == nil {
		return nil
	}
	var object struct {
		Metadata struct{ ManagedFields []manager }
	}
	if err := json.Unmarshal(o.Raw(), &object); err != nil {
		return nil // recordings that were made by hand have none
	}
	return object.Metadata.ManagedFields
}

// shown are the resources with lanes of their own.
var shown = []schema.GroupVersionResource{
	karpenter.NodePools, karpenter.NodeClaims, karpenter.Nodes, karpenter.Pods, karpenter.PodDisruptionBudgets,
}
