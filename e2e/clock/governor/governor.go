//go:build linux && (amd64 || arm64)

// Package governor decides how fast a cluster's clock runs and when it moves, and ends waits
// of the cluster's processes in time. It runs alone in a process on the machine's clock.
//
// # When the clock moves
//
// A governed clock runs at speed 1 while any process works or waits for a disk, so work takes as
// long as on other clusters. When all processes wait, nothing happens until the first wait is
// over, so the governor moves the clock there. This makes no process late: on a busy machine it
// only moves later.
//
// A process may wake at any time, also between the check that all wait and the move. It must
// not compute a wait from the old time and begin it after the move. So the governor first
// holds the page: a process that asks for the time gets it after the move. Then it checks each
// thread again. A thread that has the old time runs, or has run since the last check. If there
// is one, the governor doesn't move the clock.
//
// A clock can also run at a fixed speed, even while processes work.
//
// # How waits end
//
// When all goroutines of a Go program sleep, one thread waits in the kernel for the network
// and for the earliest timer. The kernel measures that wait by the machine's clock. So it ends
// too late when the cluster's clock runs faster. The governor checks the waits repeatedly, and
// ends those that are over on the cluster's clock. It sends SIGURG, which Go uses for
// preemption, so extra signals do no harm. The program then checks its timers, and waits for
// the rest.
//
// A process's lag is how late the governor ends a wait, plus how long the thread then waits
// for a CPU. From it the harness decides whether verdicts can be trusted.
package governor

import (
	"os"
	"runtime"
	"time"

	"github.com/plumbline-e2e/plumbline/e2e/clock/shm"
)

// Durations in the cluster's time.
const (
	// coalesce is how far the clock moves beyond the end of a wait, to also end waits that are
	// over soon after. They are at most this late, an eighth of the trusted lag. An API server
	// alone has dozens of timers a second.
	coalesce = 250 * time.Millisecond
	// maxMove is the longest single move of the clock, except in a jump.
	maxMove = time.Second
	// rest is how long the cluster runs normally before each step of a jump. A process that
	// waits for a rate limit is busy, such as a controller that has just started. If the clock
	// then moved by minutes, its work would take minutes, and some give up after two.
	rest = 5 * time.Second
	// maxUnseen is how late the governor may see a new wait at a fixed speed.
	maxUnseen = 100 * time.Millisecond
)

// Durations in real time.
const (
	pollQuick = 100 * time.Microsecond // between scans, to check that all processes wait
	pollBusy  = time.Millisecond       // between scans, while processes work
	pollSlow  = 20 * time.Millisecond  // between scans, at fixed speed 1

	// lease is the longest hold of the page. A check of all threads takes 0.1 ms or more.
	lease = 10 * time.Millisecond
)

type governor struct {
	page      *shm.Page
	processes map[int]*process // by process ID
	scanned   int64            // time of the last scan, in the cluster's time

	limit float64
	fixed bool
	rest  time.Duration // see rest

	moveAt int64         // real time of the next allowed move, so that the average speed keeps the limit
	jumpAt int64         // time of the next allowed step of a jump, in the cluster's time; 0: no jump
	poll   time.Duration // interval between scans while processes work
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

// step scans the processes, moves the clock if allowed, and sleeps until the next scan.
func (g *governor) step() {
	g.followRequests()
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

func (g *governor) followRequests() {
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

// move moves the clock ahead if allowed and all processes wait, and reports whether it did.
// next is when the first of their waits is over.
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
	if !g.allWaiting() || !g.page.Move(by) {
		g.page.Release()
		return false
	}
	g.noteMove()
	if jump {
		g.jumpAt = g.scanned + int64(g.rest)
	}
	g.poll = pollQuick
	return true
}

// jumpStep returns how far the clock may jump now, or 0.
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
		// Waits that end soon after one another are ended together.
		longest := min(max(time.Duration(float64(maxUnseen)/speed), pollBusy), pollSlow)
		return min(longest, max(left, longest/2))
	}
	return pollSlow
}
