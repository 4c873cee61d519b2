//go:build linux && (amd64 || arm64)

// Package keep keeps a cluster's clock: it ends waits in time, and lets the clock
// run as fast as it may. The keeper is a process of its own, whose time is the
// machine's, and which does nothing else.
package keep

import (
	"os"
	"runtime"
	"time"

	"github.com/plumbline-e2e/plumbline/e2e/clock/page"
	"github.com/plumbline-e2e/plumbline/e2e/clock/waits"
)

// Tolerable is the lag at which a clock that is governed slows down, in the
// cluster's time.
const Tolerable = 500 * time.Millisecond

// Stride is the longest step of a jump: what is renewed all the time must not be
// over before it can be. A node's lease is the shortest of that, with 200 seconds
// on clusters that kwokctl makes.
const Stride = 2 * time.Minute

// How often is looked at what: real time.
const (
	grain  = 100 * time.Millisecond // of the cluster's time: how late a new wait may be seen
	often  = time.Millisecond
	seldom = 20 * time.Millisecond
	beat   = 50 * time.Millisecond // for the governor
)

// Keep keeps the clock of a page until stop is closed.
func Keep(p *page.Page, stop <-chan struct{}) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	watch := waits.New(p)
	defer watch.Close()
	g := newGovernor()
	last := page.Monotonic()
	for {
		select {
		case <-stop:
			return
		default:
		}
		number, limit, fixed := p.Asked()
		if !p.Answered(number) {
			set(p, 1, limit, fixed)
			p.Answer(number)
		}
		lags, next := watch.Look()
		if ahead := p.Ahead(); ahead > 0 && watch.Quiet() {
			step := min(ahead, Stride)
			p.Set(p.Speed(), step)
			p.Jump(-step)
			watch.Jumped()
			continue
		}
		speed := p.Speed()
		interval := min(max(time.Duration(float64(grain)/speed), often), seldom)
		if left := time.Duration(float64(next-p.Now()) / speed); left < interval {
			// Waits that are over soon after one another are ended together.
			interval = max(left, interval/2, often)
		}
		began := page.Monotonic()
		page.Sleep(interval)
		now := page.Monotonic()
		over := time.Duration(float64(now-began-int64(interval)) * speed)
		for _, l := range append(lags, waits.Lag{Late: over, PID: os.Getpid()}) {
			g.lag = max(g.lag, l.Late)
			p.Late(l.Late, l.PID)
		}
		if now-last >= int64(beat) {
			last = now
			set(p, g.next(speed), limit, fixed)
		}
	}
}

// set sets the speed, or the one that is allowed.
func set(p *page.Page, speed, limit float64, fixed bool) {
	if speed = min(max(speed, 1), limit); fixed {
		speed = limit
	}
	if speed != p.Speed() {
		p.Set(speed, 0)
	}
}
