package hostnode

import (
	"context"
	"time"
)

// maxBackoff is the longest delay of a restart. A process that ran twice as long resets the
// count of crashes. Both are the kubelet's rules.
const maxBackoff = 5 * time.Minute

// backoff is the delay of restarts: none, then first, then doubled each time.
type backoff struct {
	first   time.Duration
	crashes int
	delay   time.Duration
}

// nextDelay returns the delay after a process that ran that long.
func (b *backoff) nextDelay(ran time.Duration) time.Duration {
	if ran >= 2*maxBackoff {
		b.crashes = 0
	}
	b.crashes++
	switch b.crashes {
	case 1:
		b.delay = 0
	case 2:
		b.delay = b.first
	default:
		b.delay *= 2
	}
	b.delay = min(b.delay, maxBackoff)
	return b.delay
}

// sleep waits for d, or less if ctx ends or early is closed.
func sleep(ctx context.Context, d time.Duration, early <-chan struct{}) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-timer.C:
	case <-early:
	}
}
