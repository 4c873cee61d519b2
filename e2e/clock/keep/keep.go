//go:build linux && (amd64 || arm64)

// Package keep keeps a cluster's clock. The keeper is a process of its own, whose
// time is the machine's, and which does nothing else.
//
// A clock that runs freely runs at speed 1 while any process works, so that work
// takes as long as it does on other clusters. When all of them wait, nothing would
// happen until the first of their waits is over: the clock is moved there at
// once. So nobody is late because of the clock, on a busy machine neither: it only
// gets there later.
//
// A clock can also be made to run at a fixed speed, whatever is being done.
package keep

import (
	"os"
	"runtime"
	"time"

	"github.com/plumbline-e2e/plumbline/e2e/clock/page"
	"github.com/plumbline-e2e/plumbline/e2e/clock/waits"
)

// Of the cluster's time.
const (
	// merge is how far beyond the end of a wait the clock is moved, so that others
	// that are over soon after are ended with it: so late are they at most, an eighth
	// of what is trusted. An API server alone has dozens of timers a second, each at a
	// time of its own.
	merge = 250 * time.Millisecond
	// farthest is how far the clock is moved at once.
	farthest = time.Second
	// rest is how long the cluster goes on as it would before each step of a jump. A
	// process that waits since it may not ask more often is in the middle of its work,
	// such as a controller that has just been started: were the clock moved by minutes
	// then, it would have taken minutes for it, and some give up after two.
	rest = 5 * time.Second
	// grain is how late a new wait may be seen at a fixed speed.
	grain = 100 * time.Millisecond
)

// How often is looked at what, of real time.
const (
	closely = 100 * time.Microsecond // to see that all wait
	often   = time.Millisecond       // while they work
	seldom  = 20 * time.Millisecond  // while nothing is bent

	// lease is how long those who ask for the time wait at most while it is seen that
	// nobody works. That takes a tenth of a millisecond, and more on a busy machine.
	lease = 10 * time.Millisecond
)

// keeper keeps the clock of a page.
type keeper struct {
	page  *page.Page
	watch *waits.Watch

	limit float64
	fixed bool
	rest  time.Duration // see rest

	again   int64         // when the clock may be moved again, for it not to exceed its limit
	rested  int64         // when the clock may jump, in the cluster's time; 0 while it isn't to
	working time.Duration // how long to wait before looking whether they still work
}

// Keep keeps the clock of a page until stop is closed.
func Keep(p *page.Page, stop <-chan struct{}) { keep(p, rest, stop) }

func keep(p *page.Page, rest time.Duration, stop <-chan struct{}) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	k := &keeper{page: p, watch: waits.New(p), limit: 1, fixed: true, rest: rest}
	defer k.watch.Close()
	for {
		select {
		case <-stop:
			return
		default:
			k.step()
		}
	}
}

// step looks at the processes, moves the clock if it may be moved, and sleeps
// until it is time to look again.
func (k *keeper) step() {
	k.obey()
	lags, next := k.watch.Look()
	for _, l := range lags {
		k.page.Late(l.Late, l.PID)
	}
	if k.watch.Quiet() && k.move(next) {
		return
	}
	interval := k.interval(next)
	began := page.Monotonic()
	page.Sleep(interval)
	over := time.Duration(page.Monotonic()-began) - interval
	k.page.Late(time.Duration(float64(over)*k.page.Speed()), os.Getpid())
}

// obey does what is asked for.
func (k *keeper) obey() {
	number, limit, fixed := k.page.Asked()
	if k.page.Excepted() != 0 {
		limit, fixed = 1, true
		k.page.Stay()
	}
	if k.page.Answered(number) && limit == k.limit && fixed == k.fixed {
		return
	}
	k.limit, k.fixed = limit, fixed
	speed := 1.0
	if fixed {
		speed = limit
	}
	if speed != k.page.Speed() {
		k.page.Set(speed, 0)
	}
	k.page.Answer(number)
}

// move moves the clock ahead, while all wait, if it is to be. Those that wake while that
// is seen to learn the time when it is moved: none may wait for what is over by then.
func (k *keeper) move(next int64) bool {
	var by time.Duration
	ahead, step := k.mayJump()
	switch {
	case ahead > 0:
		by = step
	case k.fixed || k.limit <= 1 || page.Monotonic() < k.again:
		return false
	default:
		by = min(max(time.Duration(next-k.page.Now()), 0)+merge, farthest)
		k.again = page.Monotonic() + int64(float64(by)/k.limit)
	}
	k.page.Hold(lease)
	if !k.watch.Still() || !k.page.Move(by) {
		k.page.Release()
		return false
	}
	k.watch.Moved()
	if ahead > 0 {
		k.rested = k.page.Now() + int64(k.rest)
	}
	k.working = closely
	return true
}

// mayJump is how far the clock is to jump yet, and how far now, if it may.
func (k *keeper) mayJump() (ahead, step time.Duration) {
	ahead, step = k.page.Ahead()
	switch now := k.page.Now(); {
	case ahead <= 0:
		k.rested = 0
	case k.fixed && k.limit <= 1: // it is held
	case k.rested == 0:
		k.rested = now + int64(k.rest)
	case now >= k.rested:
		return ahead, step
	}
	return 0, 0
}

// interval is how long to wait until looking again.
func (k *keeper) interval(next int64) time.Duration {
	speed := k.page.Speed()
	left := time.Duration(float64(next-k.page.Now()) / speed)
	ahead, _ := k.page.Ahead()
	switch {
	case !k.fixed && k.limit > 1 || ahead > 0:
		k.working = min(max(k.working*5/4, closely), often)
		return min(k.working, max(left, closely))
	case speed > 1:
		// Waits that are over soon after one another are ended together.
		longest := min(max(time.Duration(float64(grain)/speed), often), seldom)
		return min(longest, max(left, longest/2))
	}
	return seldom
}
