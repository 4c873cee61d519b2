//go:build linux && (amd64 || arm64)

package shm

import (
	"math"
	"sync/atomic"
	"time"
)

// Request asks the governor for a limit of the average speed, or, if fixed, for just that
// speed, and returns when it has obeyed, which takes some milliseconds.
func (p *Page) Request(limit float64, fixed bool) {
	var f uint64
	if fixed {
		f = 1
	}
	atomic.StoreUint64(&p.limit, math.Float64bits(limit))
	atomic.StoreUint64(&p.fixed, f)
	for number := atomic.AddUint64(&p.requested, 1); atomic.LoadUint64(&p.obeyed) < number; {
		Sleep(time.Millisecond)
	}
}

// Requested returns the last request, and its number, for [Page.Obeyed].
func (p *Page) Requested() (number uint64, limit float64, fixed bool) {
	number = atomic.LoadUint64(&p.requested)
	return number, math.Float64frombits(atomic.LoadUint64(&p.limit)), atomic.LoadUint64(&p.fixed) == 1
}

// Obeyed says that the governor has obeyed the requests up to a number.
func (p *Page) Obeyed(number uint64) { atomic.StoreUint64(&p.obeyed, number) }

// Jump asks the governor to move the clock ahead by a duration, in steps of at most step.
func (p *Page) Jump(by, step time.Duration) {
	atomic.StoreInt64(&p.step, int64(step))
	atomic.StoreInt64(&p.target, p.Now()+int64(by))
}

// CancelJump ends a jump where it is.
func (p *Page) CancelJump() { atomic.StoreInt64(&p.target, 0) }

// JumpLeft returns how much of a jump is left, and how long its next step is. Time that
// passes by itself between two steps counts too.
func (p *Page) JumpLeft() (left, step time.Duration) {
	if target := atomic.LoadInt64(&p.target); target != 0 {
		left = max(0, time.Duration(target-p.Now()))
	}
	return left, min(left, time.Duration(atomic.LoadInt64(&p.step)))
}

// SetUnbent notes a process that can't live by the page. It lives by the machine's clock,
// so the governor makes all others do the same: at speed 1, without jumps.
func (p *Page) SetUnbent(pid int) { atomic.CompareAndSwapInt64(&p.unbent, 0, int64(pid)) }

// Unbent returns the first process that can't live by the page; 0: there is none.
func (p *Page) Unbent() (pid int) { return int(atomic.LoadInt64(&p.unbent)) }

// AddLag notes how late a process was, in the cluster's time, if it is the worst.
func (p *Page) AddLag(late time.Duration, pid int) {
	if int64(late) > atomic.LoadInt64(&p.late) {
		atomic.StoreInt64(&p.late, int64(late))
		atomic.StoreInt64(&p.latest, int64(pid))
	}
}

// TakeLag returns the worst lag since the last call, in the cluster's time, and whose it was.
func (p *Page) TakeLag() (late time.Duration, pid int) {
	pid = int(atomic.LoadInt64(&p.latest))
	return time.Duration(atomic.SwapInt64(&p.late, 0)), pid
}
