package history

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"
)

// ErrStopped is what Await returns when the recording ended before what it
// waited for had happened.
var ErrStopped = errors.New("the recording has been stopped")

// breath is how long Await leaves events alone that follow on others at once: to
// be woken for each of a burst costs more than to ask the predicate.
const breath = 2 * time.Millisecond

// Await waits until the predicate is true of the world: it is asked about the
// present world, and then after each event, whether or not somebody was waiting
// when the event came. It runs in the caller's goroutine, under no lock, and may
// use the recorder; the world is its own, which later events move on, so it must
// not keep it.
//
// When ctx is done first, the error is context.Cause(ctx), together with what
// is the matter with the recording if a watch is broken at that time; when the
// recording ends first, ErrStopped.
func (r *Recorder) Await(ctx context.Context, pred func(*World) bool) error {
	w, next := r.present()
	if pred(w) {
		return nil
	}
	for woken := time.Now(); ; {
		events, changed := r.after(next)
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
			if events, _ := r.after(next); len(events) == 0 {
				return r.gaveUp(ErrStopped)
			}
		}
	}
}

// present is a copy of the world, and how many events have made it.
func (r *Recorder) present() (*World, int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.world.clone(), len(r.received)
}

// after is the events that came after so many; if there are none, a channel that is
// closed when there are.
func (r *Recorder) after(m int) ([]Event, <-chan struct{}) {
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
	byName := func(a, b schema.GroupVersionResource) int { return cmp.Compare(a.String(), b.String()) }
	var broken []string
	for _, resource := range slices.SortedFunc(maps.Keys(r.trouble), byName) {
		broken = append(broken, fmt.Sprintf("%s: %v", name(resource), r.trouble[resource]))
	}
	return fmt.Errorf("%w; meanwhile a watch is broken: %s", cause, strings.Join(broken, "; "))
}
