//go:build linux && (amd64 || arm64)

// Package governor decides how fast a cluster's clock runs and when it is moved, and ends
// the waits of the cluster's processes in time. It runs in a process of its own, whose time
// is the machine's, and which does nothing else.
//
// # When the clock is moved
//
// A clock that runs freely runs at speed 1 while any process works, so that work takes as
// long as it does on other clusters. When all processes wait, nothing would happen until the
// first of their waits is over: the governor moves the clock there at once. So nobody is
// late because of the clock, even on a busy machine: there it is only moved later.
//
// A process may wake at any time, also between the look that finds all waiting and the move.
// It must not compute a wait from the old time and begin it under the new one. So the page
// is held first: from then on whoever asks for the time gets it after the move. Then each
// thread is looked at once more. A thread that has the old time is running, or has run since
// the last look. If there is one, the clock isn't moved.
//
// A clock can also be made to run at a fixed speed, whatever is being done.
//
// # How waits end
//
// When all of a Go program sleeps, one of its threads waits in the kernel for the network
// and for the earliest of its timers. The kernel counts that wait by the machine's clock, and
// by the speed of the moment at which it began. So it ends too late when the cluster's clock
// runs faster. The governor looks at each process's wait again and again, and ends it when
// it is over by the cluster's clock: by SIGURG, with which Go preempts its threads, so that
// strays do no harm. The program then looks at its timers, and waits again for what is left.
//
// How late a wait is ended, and how long the thread then waits for a CPU, is the lag of the
// process. By it the harness decides whether verdicts can be trusted.
package governor

import (
	"os"
	"runtime"
	"time"

	"github.com/plumbline-e2e/plumbline/e2e/clock/shm"
)

// Of the cluster's time.
const (
	// coalesce is how far beyond the end of a wait the clock is moved, so that others that
	// are over soon after end with it: they are at most that late, an eighth of what is
	// trusted. An API server alone has dozens of timers a second, each at its own time.
	coalesce = 250 * time.Millisecond
	// maxMove is how far the clock is moved at once, except by a jump.
	maxMove = time.Second
	// rest is how long the cluster runs as usual before each step of a jump. A process that
	// waits because of a rate limit is in the middle of its work, such as a controller that
	// has just been started. If the clock were moved by minutes then, that work would take
	// minutes, and some give up after two.
	rest = 5 * time.Second
	// maxUnseen is how late a new wait may be seen at a fixed speed.
	maxUnseen = 100 * time.Millisecond
)

// Of real time.
const (
	pollQuick = 100 * time.Microsecond // between two scans, to see that all wait
	pollBusy  = time.Millisecond       // while they work
	pollSlow  = 20 * time.Millisecond  // while nothing is bent

	// lease is how long the page is held at most. To look at all threads takes a tenth of a
	// millisecond, and more on a busy machine.
	lease = 10 * time.Millisecond
)

// governor governs the clock of a page.
type governor struct {
	page      *shm.Page
	processes map[int]*process // those of the page, by process ID
	scanned   int64            // when they were scanned last, in the cluster's time

	limit float64
	fixed bool
	rest  time.Duration // see rest

	moveAt int64         // when the clock may be moved again, so that it doesn't exceed its limit
	jumpAt int64         // when the clock may jump, in the cluster's time; 0: it isn't asked to
	poll   time.Duration // how long to wait before the next scan, while they work
}

func newGovernor(p *shm.Page) *governor {
	return &governor{page: p, processes: map[int]*process{}, scanned: p.Now(), limit: 1, fixed: true, rest: rest}
}

// Run governs the clock of a page until stop is closed.
func Run(p *shm.Page, stop <-chan struct{}) { newGovernor(p).run(stop) }

func (g *governor) run(stop <-chan struct{}) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	defer g.close()
	for {
		select {
		case <-stop:
			return
		default:
			g.step()
		}
	}
}

// step scans the processes, moves the clock if it may be moved, and sleeps until the next scan.
func (g *governor) step() {
	g.obey()
	next, quiet := g.scan()
	if quiet && g.move(next) {
		return
	}
	interval := g.interval(next)
	began := shm.Monotonic()
	shm.Sleep(interval)
	over := time.Duration(shm.Monotonic()-began) - interval
	g.page.AddLag(time.Duration(float64(over)*g.page.Speed()), os.Getpid())
}

// obey does what the harness requests.
func (g *governor) obey() {
	number, limit, fixed := g.page.Requested()
	if g.page.Unbent() != 0 {
		limit, fixed = 1, true
		g.page.CancelJump()
	}
	g.limit, g.fixed = limit, fixed
	speed := 1.0
	if fixed {
		speed = limit
	}
	if speed != g.page.Speed() {
		g.page.Set(speed, 0)
	}
	g.page.Obeyed(number)
}

// move moves the clock ahead if it is to be, and all processes wait. Next is when the first
// of their waits is over.
func (g *governor) move(next int64) bool {
	by := g.jumpStep()
	jump := by > 0
	if !jump {
		if g.fixed || g.limit <= 1 || shm.Monotonic() < g.moveAt {
			return false
		}
		by = min(max(time.Duration(next-g.page.Now()), 0)+coalesce, maxMove)
		g.moveAt = shm.Monotonic() + int64(float64(by)/g.limit)
	}
	g.page.Hold(lease)
	if !g.still() || !g.page.Move(by) {
		g.page.Release()
		return false
	}
	g.moved()
	if jump {
		g.jumpAt = g.scanned + int64(g.rest)
	}
	g.poll = pollQuick
	return true
}

// jumpStep returns how far the clock is to jump now; 0: it isn't, or must not yet.
func (g *governor) jumpStep() time.Duration {
	left, step := g.page.JumpLeft()
	switch now := g.page.Now(); {
	case left <= 0:
		g.jumpAt = 0
	case g.fixed && g.limit <= 1: // the clock is held at speed 1
	case g.jumpAt == 0:
		g.jumpAt = now + int64(g.rest)
	case now >= g.jumpAt:
		return step
	}
	return 0
}

// interval returns how long to wait until the next scan.
func (g *governor) interval(next int64) time.Duration {
	speed := g.page.Speed()
	left := time.Duration(float64(next-g.page.Now()) / speed)
	jump, _ := g.page.JumpLeft()
	switch {
	case !g.fixed && g.limit > 1 || jump > 0:
		g.poll = min(max(g.poll*5/4, pollQuick), pollBusy)
		return min(g.poll, max(left, pollQuick))
	case speed > 1:
		// Waits that are over soon after one another are ended together.
		longest := min(max(time.Duration(float64(maxUnseen)/speed), pollBusy), pollSlow)
		return min(longest, max(left, longest/2))
	}
	return pollSlow
}
