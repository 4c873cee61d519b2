//go:build linux && (amd64 || arm64)

package shm

import (
	"math"
	"sync/atomic"
	"time"
)

// Request asks the governor for a limit of the average speed, or for the exact speed if fixed.
// It returns when the governor has followed it, after some milliseconds.
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

// Requested returns the last request, with its number for [Page.Obeyed].
func (p *Page) Requested() (number uint64, limit float64, fixed bool) {
	number = atomic.LoadUint64(&p.requested)
	return number, math.Float64frombits(atomic.LoadUint64(&p.limit)), atomic.LoadUint64(&p.fixed) == 1
}

// Obeyed records that the governor has followed the requests up to a number.
func (p *Page) Obeyed(number uint64) { atomic.StoreUint64(&p.obeyed, number) }

// Jump asks the governor to move the clock ahead by a duration, in steps of at most step.
func (p *Page) Jump(by, step time.Duration) {
	atomic.StoreInt64(&p.step, int64(step))
	atomic.StoreInt64(&p.target, p.Now()+int64(by))
}

// CancelJump ends a jump early.
func (p *Page) CancelJump() { atomic.StoreInt64(&p.target, 0) }

// JumpLeft returns the rest of a jump, and the length of its next step. Time that passes
// between steps counts.
func (p *Page) JumpLeft() (left, step time.Duration) {
	if target := atomic.LoadInt64(&p.target); target != 0 {
		left = max(0, time.Duration(target-p.Now()))
	}
	return left, min(left, time.Duration(atomic.LoadInt64(&p.step)))
}

// SetUnbent records a process whose clock can't be bent. It uses the machine's clock, so the
// governor keeps the cluster's clock at speed 1 and cancels jumps.
func (p *Page) SetUnbent(pid int) { atomic.CompareAndSwapInt64(&p.unbent, 0, int64(pid)) }

// Unbent returns the first process whose clock can't be bent, or 0 if there is none.
func (p *Page) Unbent() (pid int) { return int(atomic.LoadInt64(&p.unbent)) }

// AddLag records a process's lag, in the cluster's time, if it is the worst.
func (p *Page) AddLag(late time.Duration, pid int) {
	if int64(late) > atomic.LoadInt64(&p.late) {
		atomic.StoreInt64(&p.late, int64(late))
		atomic.StoreInt64(&p.latest, int64(pid))
	}
}

// TakeLag returns the worst lag since the last call, in the cluster's time, and its process.
func (p *Page) TakeLag() (late time.Duration, pid int) {
	pid = int(atomic.LoadInt64(&p.latest))
	return time.Duration(atomic.SwapInt64(&p.late, 0)), pid
}
