package history

import (
	"context"
	"fmt"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Complete returns the history up to a moment before which no watch lacks an event. It has
// everything that had happened when Complete was called.
//
// Each watch has its own delay: one may deliver the binding of a pod before another delivers
// an earlier change of the node. So Complete lists the resources and waits until the watches
// have delivered what the lists show. Events (v1) keep the order in which they came.
//
// During an interruption (see Interrupt) it returns what is recorded.
func (r *Recorder) Complete(ctx context.Context) (*History, error) {
	began := timestamp()
	states := make([]state, 0, len(r.watches))
	for _, w := range r.watches {
		if !ownRevisions(w.resource) {
			states = append(states, state{watcher: w})
		}
	}
	err := forEach(len(states), func(i int) error { return states[i].ask(ctx) })
	if err != nil {
		if r.isInterrupted() {
			return r.History(), nil
		}
		return nil, err
	}
	for {
		caughtUp, changed := r.hasRecorded(states)
		if caughtUp {
			break
		}
		select {
		case <-changed:
		case <-r.stopped:
			return r.History(), nil
		case <-ctx.Done():
			return nil, r.gaveUp(fmt.Errorf("the watches have not yet delivered all events: %w", context.Cause(ctx)))
		}
	}
	revision := states[0].revision
	for _, s := range states {
		revision = min(revision, s.revision)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.arrange()
	to := upTo(r.log, revision)
	if to > 0 {
		began = later(began, r.log[to-1].Time)
	}
	gaps := slices.DeleteFunc(slices.Clone(r.gaps), func(g Gap) bool { return g.at > to })
	return view(r.log[:to], gaps, r.from, r.began, began), nil
}

// isInterrupted reports whether some watches have not begun anew since an Interrupt.
func (r *Recorder) isInterrupted() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.absence != nil && len(r.absence.left) > 0
}

// hasRecorded reports whether the recording has caught up with all states. If not, it returns
// a channel that is closed at the next event.
func (r *Recorder) hasRecorded(states []state) (bool, <-chan struct{}) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, s := range states {
		if s.newest <= r.told[s.watcher.resource] && !slices.ContainsFunc(r.world.List(s.watcher.resource), s.wasDeleted) {
			continue
		}
		if r.changed == nil {
			r.changed = make(chan struct{})
		}
		return false, r.changed
	}
	return true, nil
}

// state is the objects of a resource at a moment, by a list.
type state struct {
	watcher  *watcher
	revision uint64          // of the list
	newest   uint64          // greatest of the objects
	present  map[string]bool // by UID
}

// ask lists the objects. It asks again while the server says that it can't answer yet, as it does for a
// moment after a CRD has changed.
func (s *state) ask(ctx context.Context) error {
	body, err := s.watcher.api.names(ctx, s.watcher.resource)
	for delay := newBackoff(); apierrors.IsTooManyRequests(err) && ctx.Err() == nil; {
		pause(ctx, delay.Step())
		body, err = s.watcher.api.names(ctx, s.watcher.resource)
	}
	if err != nil {
		return fmt.Errorf("list %s: %w", name(s.watcher.resource), err)
	}
	var all metav1.PartialObjectMetadataList
	if err := readAll(body, &all); err != nil {
		return fmt.Errorf("list %s: read the list: %w", name(s.watcher.resource), err)
	}
	s.revision, s.present = revisionOf(all.ResourceVersion), map[string]bool{}
	for i := range all.Items {
		s.present[string(all.Items[i].UID)] = true
		s.newest = max(s.newest, revisionOf(all.Items[i].ResourceVersion))
	}
	return nil
}

// wasDeleted reports whether a recorded object was already deleted at the list's revision.
func (s *state) wasDeleted(o *Object) bool {
	return !s.present[o.UID] && revisionOf(o.ResourceVersion) <= s.revision
}

// upTo returns how many events of an ordered log happened up to a revision.
func upTo(log []Event, revision uint64) int {
	to := len(log)
	for i, e := range slices.Backward(log) {
		switch {
		case e.revision == 0 || ownRevisions(e.Resource):
			// not comparable
		case e.revision > revision:
			to = i
		default:
			return to
		}
	}
	return to
}
