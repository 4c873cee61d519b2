package history

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
)

// ErrStopped is the error of Await if the recording ends first.
var ErrStopped = errors.New("the recording has been stopped")

// breath is the minimum time between two wake-ups of Await. A wake-up for each event of a
// burst costs more than the predicate.
const breath = 2 * time.Millisecond

// Await waits until the predicate is true. It calls pred with the present world and then after
// each event, in the caller's goroutine and without a lock; pred may use the recorder. Later
// events change the world that pred gets, so pred must not keep it.
//
// If ctx is done first, the error is context.Cause(ctx). If the recording ends first, it is
// ErrStopped. Both name the watches that are broken at that time.
func (r *Recorder) Await(ctx context.Context, pred func(*World) bool) error {
	w, next := r.present()
	if pred(w) {
		return nil
	}
	for woken := time.Now(); ; {
		events, changed := r.eventsAfter(next)
		for _, e := range events {
			w.Apply(e)
			if pred(w) {
				return nil
			}
		}
		next += len(events)
		if len(events) > 0 {
			continue
		}
		select {
		case <-changed:
			pause(ctx, breath-time.Since(woken))
			woken = time.Now()
		case <-ctx.Done():
			return r.gaveUp(context.Cause(ctx))
		case <-r.stopped:
			if events, _ := r.eventsAfter(next); len(events) == 0 {
				return r.gaveUp(ErrStopped)
			}
		}
	}
}

// present returns a copy of the world and the number of events that made it.
func (r *Recorder) present() (*World, int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.world.clone(), len(r.received)
}

// eventsAfter returns the events after the first m. If there are none yet, it returns a
// channel that is closed at the next one.
func (r *Recorder) eventsAfter(m int) ([]Event, <-chan struct{}) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if m < len(r.received) {
		return slices.Clip(r.received[m:]), nil
	}
	if r.changed == nil {
		r.changed = make(chan struct{})
	}
	return nil, r.changed
}

func (r *Recorder) gaveUp(cause error) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.trouble) == 0 {
		return cause
	}
	return fmt.Errorf("%w; meanwhile a watch is broken: %s", cause, strings.Join(r.troubles(), "; "))
}

// troubles returns the watches that are broken now, and why. The caller holds mu.
func (r *Recorder) troubles() []string {
	var broken []string
	for _, resource := range slices.SortedFunc(maps.Keys(r.trouble), byResource) {
		broken = append(broken, fmt.Sprintf("%s: %v", name(resource), r.trouble[resource]))
	}
	return broken
}
