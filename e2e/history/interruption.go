package history

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"
)

// interruption is a period in which the harness breaks watches.
type interruption struct {
	why  string
	left []schema.GroupVersionResource // not relisted yet
	over chan struct{}                 // closed when left is empty
}

// Interrupt announces that the harness is about to break the watches of some kinds, or of all if none is
// given: it stops the API server, or changes the kinds' CRDs. Why says so. A watch can't resume then,
// because the older events are unknown. So each broken watch lists again, and its Gap has Asked set. The
// returned function waits until all of these watches have done so. Only one interruption at a time is
// possible.
func (r *Recorder) Interrupt(why string, kinds ...schema.GroupVersionResource) (over func(context.Context) error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(kinds) == 0 {
		kinds = r.kinds
	}
	i := &interruption{why: why, left: slices.Clone(kinds), over: make(chan struct{})}
	r.absence = i
	return func(ctx context.Context) error {
		select {
		case <-i.over:
			return nil
		case <-r.stopped:
			return ErrStopped
		case <-ctx.Done():
			return r.gaveUp(fmt.Errorf("%w: not watched again yet: %s", context.Cause(ctx), r.unwatched(i)))
		}
	}
}

// ExpectClosing announces that the API server is about to close watches that can't be resumed, although it
// goes on: it does so when a CRD changes, some time later, and says nowhere that it has done so. From now on a
// watch that lists again also asks for the states in between, and leaves no gap if the API server still has them. The
// recording would miss an object that came and went within these milliseconds, and nothing else.
func (r *Recorder) ExpectClosing() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.closing = true
}

// closes reports whether a watch that can't be resumed was closed as expected.
func (r *Recorder) closes(resource schema.GroupVersionResource) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.closing && !r.absence.covers(resource)
}

// objects returns those of a resource as they are recorded by now.
func (r *Recorder) objects(resource schema.GroupVersionResource) []*Object {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.world.List(resource)
}

// interrupted reports whether a watch has to list again.
func (r *Recorder) interrupted(resource schema.GroupVersionResource) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.absence.covers(resource)
}

func (r *Recorder) unwatched(i *interruption) string {
	r.mu.Lock()
	defer r.mu.Unlock()
	var names []string
	for _, resource := range i.left {
		names = append(names, name(resource))
	}
	return strings.Join(names, ", ")
}

func (i *interruption) covers(resource schema.GroupVersionResource) bool {
	return i != nil && slices.Contains(i.left, resource)
}

// isOver notes that a watch has listed again.
func (i *interruption) isOver(resource schema.GroupVersionResource) {
	i.left = slices.DeleteFunc(i.left, func(r schema.GroupVersionResource) bool { return r == resource })
	if len(i.left) == 0 {
		close(i.over)
	}
}
