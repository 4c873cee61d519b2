//go:build linux && (amd64 || arm64)

package governor

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
	"syscall"
	"time"

	"github.com/plumbline-e2e/plumbline/e2e/clock/shm"
)

// never is the end of a wait without an end.
const never = 1<<63 - 1

// scan ends the waits that are over, and notes how late processes turned out to be since the
// last scan. Next is the earliest end of another wait, in the cluster's time (CLOCK_MONOTONIC,
// ns). Quiet means that all processes were seen to wait, for what is not over yet.
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

// still reports whether all processes are in the waits that the last scan has found, and no
// thread has run since or is about to. The page must be held, since a process may wake while
// the next is looked at: it doesn't get the time, without which it computes no wait.
func (g *governor) still() bool {
	for _, pid := range g.page.Processes() {
		if p := g.processes[pid]; p == nil || !p.still() {
			return false
		}
	}
	return true
}

// moved notes that the clock has just been moved ahead, while all were still. No process was
// late for a wait that is over by that, and any other wait that is seen began after it.
func (g *governor) moved() {
	g.scanned = g.page.Now()
	for _, p := range g.processes {
		p.since = g.scanned
		if p.waiting != nil {
			p.waiting.until = max(p.waiting.until, g.scanned)
		}
	}
}

// close forgets all processes.
func (g *governor) close() {
	for _, p := range g.processes {
		p.close()
	}
}

// process is one that lives by the page.
type process struct {
	pid     int
	task    *os.File        // the folder of its threads
	threads map[int]*thread // by thread ID
	scans   int             // how many there were
	listed  int             // how often the threads were counted since they were listed

	spent      int64 // CPU time of all threads when the last scan began, ns
	idle       bool  // that was what it was when the scan before it began
	spentAfter int64 // CPU time when the last scan ended: what a scan brings about is work until the next
	parkedAt   int64 // CPU time for which it is known which threads are parked

	since   int64   // a wait that is seen for the first time began after this, in the cluster's time
	waiting *thread // the one that waits for timers, as far as is known
	woken   *thread // the one whose wait was ended, and that has not been seen to run since
}

// quiet reports, when a scan has ended, whether the process waits, and hasn't worked since
// the last scan.
func (p *process) quiet() bool {
	before := p.spentAfter
	p.spentAfter = p.spent
	if !p.idle {
		p.spentAfter = shm.CPUTime(p.pid)
	}
	return p.waiting != nil && p.woken == nil && p.spentAfter == before
}

// still reports whether no thread of the process has run since the last scan, or is about to.
// Parked threads only run after another one has. What that spends is known once it stops:
// hence the comparison after all threads were looked at.
func (p *process) still() bool {
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
		case err != nil: // it has ended
		case bytes.HasPrefix(call[:], running):
			return false
		default:
			t.parked = parked(call[:n])
		}
	}
	return shm.CPUTime(p.pid) == p.spentAfter
}

// scan looks at a process that was scanned before at a time of the cluster, and is now at
// another. It returns the lag that it has found, and when the wait of the process is over.
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
	if t := p.waiting; p.idle && t != nil && t.until > now { // it is the same wait
		t.scanned = p.scans
		return lag, t.until, nil
	}
	// At speed 1 the kernel ends a working process's waits in time: which wait it is only
	// matters before the clock is moved.
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

// find returns the thread that waits for the process's timers, if there is one, and for how
// long. It looks at the one that did at the last scan, and at the others only if all is set.
func (p *process) find(all bool) (*thread, int64, error) {
	if p.waiting != nil {
		// While that thread waits, Go's scheduler lets no other one do so.
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
		return nil, 0, os.ErrProcessDone // a zombie, which nobody waits for
	}
	return nil, 0, nil
}

// relist is how often threads are counted before they are listed in any case.
const relist = 20

// list brings the threads up to date.
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
		if t, err := openThread(p.pid, id); err == nil { // else it has ended
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
