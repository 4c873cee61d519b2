// Package historytest makes histories by hand for the tests of checks: histories that pass,
// that fail, and that never put a check to the test.
//
//	node := historytest.Node("n1").Pool("p").Ready()
//	story := historytest.Begin().
//		Add(historytest.Pool("p"), node).
//		Start(). // what was so far is the world at the start
//		After(2 * time.Second).Change(node.Taint(karpenter.DisruptedTaint)).
//		After(5 * time.Second).Delete(node)
//	h := story.History()
//
// The methods of Thing change it in place. The story keeps the state that the Thing had when
// it was passed to the story.
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

// Story builds a history. It panics on a mistake of its author.
type Story struct {
	events   []history.Event
	gaps     []history.Gap
	now      time.Time
	start    int // number of events before it
	revision int
}

// Begin returns a story with an empty world, at 15:04:05 UTC on January 2, 2026.
func Begin() *Story {
	return &Story{now: time.Date(2026, time.January, 2, 15, 4, 5, 0, time.UTC)}
}

// After moves the time of the story on.
func (s *Story) After(d time.Duration) *Story {
	s.now = s.now.Add(d)
	return s
}

// Add adds objects, in this order, at the same time.
func (s *Story) Add(things ...*Thing) *Story { return s.record(watch.Added, things) }

// Change records the objects' present state.
func (s *Story) Change(things ...*Thing) *Story { return s.record(watch.Modified, things) }

// Delete deletes objects.
func (s *Story) Delete(things ...*Thing) *Story { return s.record(watch.Deleted, things) }

// Gap adds a gap for a kind, or for any kind if it is empty. It moves the time on by 1 ms.
func (s *Story) Gap(kind schema.GroupVersionResource, reason string) *Story {
	s.gaps = append(s.gaps, history.Gap{Time: s.now, Resource: kind, Reason: reason})
	return s.After(time.Millisecond)
}

// Interrupt adds a gap that the harness caused on purpose. It moves the time on by 1 ms.
func (s *Story) Interrupt(kind schema.GroupVersionResource) *Story {
	s.gaps = append(s.gaps, history.Gap{Time: s.now, Resource: kind, Reason: "the story wants it", Asked: true})
	return s.After(time.Millisecond)
}

// Start makes the present state the world at the start of the history.
func (s *Story) Start() *Story {
	s.start = len(s.events)
	return s
}

// History returns the history that the story has built.
func (s *Story) History() *history.History {
	return history.New(s.events, s.gaps).From(s.start)
}

func (s *Story) record(what watch.EventType, things []*Thing) *Story {
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
