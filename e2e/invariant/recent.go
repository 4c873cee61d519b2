package invariant

import (
	"iter"
	"time"
)

// stale is how old a controller's view of the cluster may be when it acts on it.
const stale = 5 * time.Second

// recent holds a value as it is and was. Karpenter acts on what it knew a little while ago.
type recent[T any] []dated[T]

// dated is a value from a time on.
type dated[T any] struct {
	from  time.Time
	value T
}

func (r *recent[T]) set(now time.Time, value T) { *r = append(*r, dated[T]{now, value}) }

// forget drops the values that ended before a time.
func (r *recent[T]) forget(before time.Time) {
	for len(*r) > 1 && (*r)[1].from.Before(before) {
		*r = (*r)[1:]
	}
}

// since returns the values that held at this time or later; the last is the current one.
func (r recent[T]) since(t time.Time) iter.Seq[T] {
	return func(yield func(T) bool) {
		for i, v := range r {
			over := i+1 < len(r) && r[i+1].from.Before(t)
			if !over && !yield(v.value) {
				return
			}
		}
	}
}
