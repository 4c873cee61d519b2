package history

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"
)

// interruption is a time without an API server that was asked for.
type interruption struct {
	why  string
	left []schema.GroupVersionResource // watches that have not begun anew
	over chan struct{}                 // closed when there are none
}

// Interrupt says that the API server is about to be taken away on purpose, and
// why. A watch can't go on then where it was, since a new API server doesn't know
// what happened before it came: each begins anew, with a list, as soon as it has
// broken, and its Gap is one that was asked for. The function that is returned
// waits until all have. There is one interruption at a time.
func (r *Recorder) Interrupt(why string) (over func(context.Context) error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	i := &interruption{why: why, left: slices.Clone(r.kinds), over: make(chan struct{})}
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

// interrupted says whether a watch has to begin anew.
func (r *Recorder) interrupted(resource schema.GroupVersionResource) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.absence.concerns(resource)
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

func (i *interruption) concerns(resource schema.GroupVersionResource) bool {
	return i != nil && slices.Contains(i.left, resource)
}

// isOver notes that a watch has begun anew.
func (i *interruption) isOver(resource schema.GroupVersionResource) {
	i.left = slices.DeleteFunc(i.left, func(r schema.GroupVersionResource) bool { return r == resource })
	if len(i.left) == 0 {
		close(i.over)
	}
}
