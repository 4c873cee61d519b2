package faults

import (
	"context"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"
)

// follow returns a fault that something else plays. look says how many requests it has struck so far, and the first of
// them; it is asked every while, and once more at the end. end makes it stop.
func follow(ctx context.Context, f Fault, strike Strike, every time.Duration,
	look func(ctx context.Context) (struck int, first Request, err error), end func(ctx context.Context),
) *Active {
	life, cancel := context.WithCancel(context.WithoutCancel(ctx))
	a := newActive(f, strike)
	see := func(ctx context.Context) {
		struck, first, err := look(ctx)
		if err != nil {
			return // the session notices when what plays the fault is gone
		}
		a.mu.Lock()
		isFirst := a.struck == 0 && struck > 0
		a.struck = struck
		a.mu.Unlock()
		if isFirst {
			a.hits(context.WithoutCancel(ctx), first)
		}
	}
	a.end = func() {
		cancel()
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Minute)
		defer cancel()
		see(ctx)
		end(ctx)
	}
	go wait.UntilWithContext(life, see, every)
	return a
}
