package history

import (
	"context"
	"fmt"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Each watch has a delay of its own. While one has told already that a pod was bound,
// another may not have told yet of the node what happened to it before. So whoever
// judges a recording that goes on must know up to where it is complete.

// Complete is History up to a moment after which nothing is missing from it: all that
// had happened when Complete was called is in it, whichever watch tells of it, and
// nothing that happened after something that is not.
//
// It asks the API server what there is, and waits until the watches have told of that.
// While the API server is away on purpose it is what is recorded. Events (v1) take the
// order in which they came.
func (r *Recorder) Complete(ctx context.Context) (*History, error) {
	began := timestamp()
	states := make([]state, 0, len(r.watches))
	for _, w := range r.watches {
		if !ownRevisions(w.resource) {
			states = append(states, state{watcher: w})
		}
	}
	err := each(len(states), func(i int) error { return states[i].ask(ctx) })
	if err != nil {
		if r.away() {
			return r.History(), nil
		}
		return nil, err
	}
	for {
		caughtUp, changed := r.has(states)
		if caughtUp {
			break
		}
		select {
		case <-changed:
		case <-r.stopped:
			return r.History(), nil
		case <-ctx.Done():
			return nil, r.gaveUp(fmt.Errorf("what the watches have not told yet: %w", context.Cause(ctx)))
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
		began = latest(began, r.log[to-1].Time)
	}
	gaps := slices.DeleteFunc(slices.Clone(r.gaps), func(g Gap) bool { return g.at > to })
	return view(r.log[:to], gaps, r.from, r.began, began), nil
}

// away says that the API server is away on purpose, or has been just now.
func (r *Recorder) away() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.absence != nil && len(r.absence.left) > 0
}

// has says whether the recording is as far as all of the states are; if not, a channel
// is closed at the next event.
func (r *Recorder) has(states []state) (bool, <-chan struct{}) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, s := range states {
		if s.newest <= r.told[s.watcher.resource] && !slices.ContainsFunc(r.world.List(s.watcher.resource), s.gone) {
			continue
		}
		if r.changed == nil {
			r.changed = make(chan struct{})
		}
		return false, r.changed
	}
	return true, nil
}

// state is what the API server says that there is of a resource.
type state struct {
	watcher  *watcher
	revision uint64          // at which that was so
	newest   uint64          // at which the last of it came to be as it is
	present  map[string]bool // by UID
}

// ask asks the API server.
func (s *state) ask(ctx context.Context) error {
	body, err := s.watcher.api.names(ctx, s.watcher.resource)
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

// gone says of an object that was recorded that it had been deleted by then.
func (s *state) gone(o *Object) bool {
	return !s.present[o.UID] && revisionOf(o.ResourceVersion) <= s.revision
}

// upTo is how many events of a log, which is in order, had happened at a revision.
func upTo(log []Event, revision uint64) int {
	to := len(log)
	for i, e := range slices.Backward(log) {
		switch {
		case e.revision == 0 || ownRevisions(e.Resource):
			// Says nothing about where the others end.
		case e.revision > revision:
			to = i
		default:
			return to
		}
	}
	return to
}
