//go:build linux && (amd64 || arm64)

package governor

import (
	"fmt"
	"os"
	"strconv"
	"syscall"
	"time"

	"github.com/plumbline-e2e/plumbline/e2e/clock/shm"
)

// never is the end of an endless wait.
const never = 1<<63 - 1

// scan ends the waits that are over, and records the lag of processes since the last scan.
// next is the earliest end of another wait (the cluster's CLOCK_MONOTONIC, ns). quiet means
// that all processes are in waits that aren't over.
func (g *governor) scan() (next int64, quiet bool) {
	next, quiet = never, true
	now := g.page.Now()
	for _, pid := range g.page.Processes() {
		p := g.processes[pid]
		if p == nil {
			p = &process{pid: pid, threads: map[int]*thread{}}
			g.processes[pid] = p
		}
		lag, until, err := p.scan(g.page, g.scanned, now)
		if err != nil { // it has ended
			p.close()
			delete(g.processes, pid)
			g.page.Remove(pid)
			continue
		}
		g.page.AddLag(time.Duration(lag), pid)
		next = min(next, until)
		quiet = p.quiet() && quiet
	}
	g.scanned = g.page.Now()
	return next, quiet
}

// allWaiting reports whether all processes are still in the waits that the last scan found,
// and no thread has run since or is about to. The page must be held: a process that wakes
// during the check can't read the time, so it computes no new wait.
func (g *governor) allWaiting() bool {
	for _, pid := range g.page.Processes() {
		if p := g.processes[pid]; p == nil || !p.isWaiting() {
			return false
		}
	}
	return true
}

// noteMove records that the clock has moved while all processes waited. No process is late for
// a wait that the move ended. Any wait that is new to the next scan began after the move.
func (g *governor) noteMove() {
	g.scanned = g.page.Now()
	for _, p := range g.processes {
		p.since = g.scanned
		if p.waiting != nil {
			p.waiting.until = max(p.waiting.until, g.scanned)
		}
	}
}

func (g *governor) close() {
	for _, p := range g.processes {
		p.close()
	}
}

type process struct {
	pid     int
	task    *os.File        // /proc/PID/task
	threads map[int]*thread // by thread ID
	scans   int             // number of scans
	listed  int             // counts of the threads since they were last listed

	spent      int64 // CPU time of all threads at the start of the last scan, ns
	idle       bool  // spent did not change between the starts of the last two scans
	spentAfter int64 // CPU time at the end of the last scan: work that a scan causes counts for the next
	parkedAt   int64 // CPU time for which the threads' parked is valid

	since   int64   // a newly seen wait began after this, in the cluster's time
	waiting *thread // the thread that waits for timers, if known
	woken   *thread // the thread whose wait was ended and that has not run since, if any
}

// quiet reports, after a scan, whether the process waits and hasn't worked since the last one.
func (p *process) quiet() bool {
	before := p.spentAfter
	p.spentAfter = p.spent
	if !p.idle {
		p.spentAfter = shm.CPUTime(p.pid)
	}
	return p.waiting != nil && p.woken == nil && p.spentAfter == before
}

// isWaiting reports whether no thread of the process has run since the last scan, is about to, or
// waits for a disk. Parked threads run only after another thread. The kernel adds a thread's CPU time when
// it stops, so the comparison follows the check of all threads.
func (p *process) isWaiting() bool {
	if p.parkedAt != p.spentAfter {
		if p.list() != nil {
			return false
		}
		for _, t := range p.threads {
			t.parked = false
		}
		p.parkedAt = p.spentAfter
	}
	for _, t := range p.threads {
		if t.parked {
			continue
		}
		var call [128]byte
		n, err := read(t.syscall, call[:])
		switch {
		case err != nil: // the thread has ended
		case works(call[:n]):
			return false
		default:
			t.parked = parked(call[:n])
		}
	}
	return shm.CPUTime(p.pid) == p.spentAfter
}

// scan scans a process at the time now. before is the time of its last scan. It returns the
// lag that it found, and when the process's wait is over.
func (p *process) scan(page *shm.Page, before, now int64) (lag, until int64, err error) {
	p.scans++
	spent := shm.CPUTime(p.pid)
	p.idle = spent == p.spent
	p.spent = spent
	if !p.idle {
		p.since = before
	}
	if p.woken != nil {
		var run bool
		if lag, run = p.woken.hasRun(page.Speed()); run {
			p.woken = nil
		}
	}
	if t := p.waiting; p.idle && t != nil && t.until > now { // the same wait
		t.scanned = p.scans
		return lag, t.until, nil
	}
	// At speed 1 the kernel ends a working process's waits in time. Then its wait matters only
	// before the clock moves.
	t, timeout, err := p.find(p.idle || page.Speed() != 1)
	if err != nil || t == nil {
		return lag, never, err
	}
	if timeout >= 0 {
		if shm.CPUTime(p.pid) != spent { // it has worked since this scan began
			p.since = before
		}
		t.until = p.since + timeout
	}
	now = page.Now()
	if now < t.until {
		return lag, t.until, nil
	}
	t.wake(p.pid, now)
	if p.woken == nil {
		p.woken = t
	}
	return lag, never, nil
}

// find returns the thread that waits for the process's timers, if any, and its timeout. It
// checks the thread of the last scan, and the others only if all is set.
func (p *process) find(all bool) (*thread, int64, error) {
	if p.waiting != nil {
		// While this thread waits, Go's scheduler lets no other one wait for timers.
		if timeout, err := p.waiting.scan(p.scans); err == nil && timeout != busy {
			return p.waiting, timeout, nil
		}
		p.waiting = nil
	}
	if !all {
		return nil, 0, nil
	}
	if err := p.list(); err != nil {
		return nil, 0, err
	}
	for _, t := range p.threads {
		timeout, err := t.scan(p.scans)
		if err != nil {
			t.close()
			delete(p.threads, t.id)
			continue
		}
		if timeout != busy {
			p.waiting = t
			return t, timeout, nil
		}
	}
	if len(p.threads) == 0 {
		return nil, 0, os.ErrProcessDone // a zombie that its parent hasn't reaped
	}
	return nil, 0, nil
}

// relist is how often threads are only counted before they are listed in any case.
const relist = 20

func (p *process) list() error {
	if p.task == nil {
		task, err := os.Open(fmt.Sprintf("/proc/%d/task", p.pid))
		if err != nil {
			return err
		}
		p.task = task
	}
	var stat syscall.Stat_t
	if err := syscall.Fstat(int(p.task.Fd()), &stat); err != nil {
		return err
	}
	p.listed++
	if int(stat.Nlink)-2 == len(p.threads) && p.listed < relist {
		return nil
	}
	p.listed = 0
	if _, err := p.task.Seek(0, 0); err != nil {
		return err
	}
	names, err := p.task.Readdirnames(-1)
	if err != nil {
		return err
	}
	if len(names) == 0 {
		return os.ErrProcessDone
	}
	for _, name := range names {
		id, err := strconv.Atoi(name)
		if err != nil || p.threads[id] != nil {
			continue
		}
		if t, err := openThread(p.pid, id); err == nil { // else the thread has ended
			p.threads[id] = t
		}
	}
	return nil
}

func (p *process) close() {
	for _, t := range p.threads {
		t.close()
	}
	if p.task != nil {
		_ = p.task.Close()
	}
}
