//go:build linux && (amd64 || arm64)

package page

import (
	"math"
	"sync/atomic"
	"time"
)

// Ask asks the keeper for a limit of the speed, or for just that speed, and
// returns a number by which to see whether it has been done.
func (p *Page) Ask(limit float64, fixed bool) (number uint64) {
	atomic.StoreUint64(&p.limit, math.Float64bits(limit))
	var f uint64
	if fixed {
		f = 1
	}
	atomic.StoreUint64(&p.fixed, f)
	return atomic.AddUint64(&p.asked, 1)
}

// Answered tells whether the keeper has done what it was asked for.
func (p *Page) Answered(number uint64) bool { return atomic.LoadUint64(&p.answered) >= number }

// Asked is what the keeper is asked for; it tells when it has done so by [Page.Answer].
func (p *Page) Asked() (number uint64, limit float64, fixed bool) {
	number = atomic.LoadUint64(&p.asked)
	return number, math.Float64frombits(atomic.LoadUint64(&p.limit)), atomic.LoadUint64(&p.fixed) == 1
}

// Answer says that what was asked for is done.
func (p *Page) Answer(number uint64) { atomic.StoreUint64(&p.answered, number) }

// Jump asks for a jump of the clock to what is so far from now, in steps that are no
// longer than a stride.
func (p *Page) Jump(by, stride time.Duration) {
	atomic.StoreInt64(&p.stride, int64(stride))
	atomic.StoreInt64(&p.until, p.Now()+int64(by))
}

// Stay ends a jump where it is.
func (p *Page) Stay() { atomic.StoreInt64(&p.until, 0) }

// Ahead is how far the clock is to jump yet, and how far at once. Time that passes by
// itself, between two steps, counts too.
func (p *Page) Ahead() (left, step time.Duration) {
	if until := atomic.LoadInt64(&p.until); until != 0 {
		left = max(0, time.Duration(until-p.Now()))
	}
	return left, min(left, time.Duration(atomic.LoadInt64(&p.stride)))
}

// Except says that a process that was to live by the page can't. Since it lives by the
// machine's clock, all others have to from now on: at speed 1, without jumps.
func (p *Page) Except(pid int) { atomic.CompareAndSwapInt64(&p.unbent, 0, int64(pid)) }

// Excepted is the first process that can't live by the page; 0 if all do.
func (p *Page) Excepted() (pid int) { return int(atomic.LoadInt64(&p.unbent)) }

// Late notes a lag, if it is the worst.
func (p *Page) Late(lag time.Duration, pid int) {
	if int64(lag) > atomic.LoadInt64(&p.late) {
		atomic.StoreInt64(&p.late, int64(lag))
		atomic.StoreInt64(&p.latest, int64(pid))
	}
}

// Lag is the worst lag since it was asked for last, in the cluster's time, and
// the process whose it was.
func (p *Page) Lag() (lag time.Duration, pid int) {
	pid = int(atomic.LoadInt64(&p.latest))
	return time.Duration(atomic.SwapInt64(&p.late, 0)), pid
}
