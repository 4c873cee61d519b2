package faults

import (
	"context"
	"sync"
)

// Active is a fault that has begun.
type Active struct {
	Fault

	strike Strike
	end    func() // called once

	mu       sync.Mutex
	seen     map[*stream]int // matching events by their watch; the others by nil
	struck   int
	err      error
	first    chan struct{} // closed once it has struck, and what Strike does is done
	over     chan struct{} // closed once it is over
	overOnce sync.Once
}

func newActive(f Fault, strike Strike) *Active {
	return &Active{
		Fault: f, strike: strike, seen: map[*stream]int{}, first: make(chan struct{}), over: make(chan struct{}),
	}
}

// Strike is called before a fault takes effect on a request. A fault that kills the controller leaves the killing to
// it: no request but those for leases gets through until it returns. The context is that of the proxy, not of the
// request.
type Strike func(ctx context.Context, r Request) error

// Struck returns how many requests, events or watches the fault has struck so far.
func (a *Active) Struck() int {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.struck
}

// Err returns the first error of Strike so far.
func (a *Active) Err() error {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.err
}

// Await waits until the fault has struck, and returns the error of Strike.
func (a *Active) Await(ctx context.Context) error {
	select {
	case <-a.first:
		return a.Err()
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// End ends the fault: events that were held back go on, and new requests get through. It is safe to call twice.
func (a *Active) End() {
	a.overOnce.Do(func() {
		a.end()
		close(a.over)
	})
}

// due counts a matching request, or an event of a watch, and reports whether the fault strikes it.
func (a *Active) due(s *stream) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.seen[s]++
	first := max(a.on.first, 1)
	if n := a.seen[s]; n < first || a.times > 0 && n >= first+a.times {
		return false
	}
	a.struck++
	return true
}

// hits tells Strike of a request that is struck.
func (a *Active) hits(ctx context.Context, r Request) {
	err := a.strike(ctx, r)
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.err == nil {
		a.err = err
	}
	select {
	case <-a.first:
	default:
		close(a.first)
	}
}
