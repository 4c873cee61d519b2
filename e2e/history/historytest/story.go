// Package historytest writes histories by hand, for the tests of checks: what a
// check says of a history in which it holds, one in which it breaks and one in
// which it was never put to the test.
//
//	node := historytest.Node("n1").Pool("p").Ready()
//	story := historytest.Begin().
//		Add(historytest.Pool("p"), node).
//		Start(). // what was so far is the world at the start
//		After(2 * time.Second).Change(node.Taint(karpenter.DisruptedTaint)).
//		After(5 * time.Second).Delete(node)
//	h := story.History()
//
// Thing's methods change it in place; the story keeps the state that it had when
// it was told.
package historytest

import (
	"encoding/json"
	"fmt"
	"strconv"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/plumbline-e2e/plumbline/e2e/history"
)

// Story is a history in the making. It panics on a mistake of its author.
type Story struct {
	events   []history.Event
	gaps     []history.Gap
	now      time.Time
	start    int // the events before it
	revision int
}

// Begin is a story that begins on the second of January 2026, with an empty
// world.
func Begin() *Story {
	return &Story{now: time.Date(2026, time.January, 2, 15, 4, 5, 0, time.UTC)}
}

// After lets time pass.
func (s *Story) After(d time.Duration) *Story {
	s.now = s.now.Add(d)
	return s
}

// Add makes things appear, in this order, at the same time.
func (s *Story) Add(things ...*Thing) *Story { return s.tell(watch.Added, things) }

// Change makes them have the state that they have now.
func (s *Story) Change(things ...*Thing) *Story { return s.tell(watch.Modified, things) }

// Delete makes them disappear.
func (s *Story) Delete(things ...*Thing) *Story { return s.tell(watch.Deleted, things) }

// Gap says that here something may be missing; of any kind, if kind is empty.
// What follows happens a millisecond later.
func (s *Story) Gap(kind schema.GroupVersionResource, reason string) *Story {
	s.gaps = append(s.gaps, history.Gap{Time: s.now, Resource: kind, Reason: reason})
	return s.After(time.Millisecond)
}

// Interrupt says that the API server was away here on purpose. What follows happens
// a millisecond later.
func (s *Story) Interrupt(kind schema.GroupVersionResource) *Story {
	s.gaps = append(s.gaps, history.Gap{Time: s.now, Resource: kind, Reason: "the story wants it", Asked: true})
	return s.After(time.Millisecond)
}

// Start makes what was told so far the world at the start of the history.
func (s *Story) Start() *Story {
	s.start = len(s.events)
	return s
}

// History is the story as a history.
func (s *Story) History() *history.History {
	return history.New(s.events, s.gaps).From(s.start)
}

func (s *Story) tell(what watch.EventType, things []*Thing) *Story {
	for _, t := range things {
		s.revision++
		t.metadata()["resourceVersion"] = strconv.Itoa(s.revision)
		s.events = append(s.events, history.Event{Time: s.now, Type: what, Resource: t.resource, Object: t.object()})
	}
	return s
}

func (t *Thing) object() *history.Object {
	raw, err := json.Marshal(t.content)
	if err == nil {
		var o *history.Object
		if o, err = history.NewObject(raw); err == nil {
			return o
		}
	}
	panic(fmt.Sprintf("historytest: %v: %v", t.content, err))
}
