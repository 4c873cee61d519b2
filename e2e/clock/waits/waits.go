//go:build linux && (amd64 || arm64)

// Package waits ends the waits of bent processes in time.
//
// When all of a Go program sleeps, one of its threads waits in the kernel for
// the network and for the earliest of its timers. The kernel counts that wait by
// the machine's clock, and by the speed of the moment at which it began; so it
// ends too late when the cluster's clock runs faster. Here each process's wait is
// looked at again and again, and ended when it is over by the cluster's clock: by
// SIGURG, which Go uses itself to preempt its threads, and so never takes amiss.
// The program then looks at its timers, and waits again for what is left.
//
// How late waits are ended, and how long the thread then waits for a CPU, is the
// lag of the process: what tells whether verdicts can be trusted.
package waits

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"strconv"
	"syscall"
	"time"
	"unsafe"

	"github.com/plumbline-e2e/plumbline/e2e/clock/page"
)

// never is the end of a wait without an end.
const never = 1<<63 - 1

// Lag is how late a process was.
type Lag struct {
	Late time.Duration // in the cluster's time
	PID  int
}

// Watch looks after the processes of one page.
type Watch struct {
	page      *page.Page
	processes map[int]*process
	looked    int64 // when they were looked at last, in the cluster's time
	quiet     bool  // all waited then
}

// New returns a watch. It must be used from one goroutine at a time.
func New(p *page.Page) *Watch {
	return &Watch{page: p, processes: map[int]*process{}, looked: p.Now()}
}

// Look ends the waits that are over, and returns how late processes turned out
// to be since the last time, and the earliest end of another wait, in the
// cluster's time (CLOCK_MONOTONIC, ns).
func (w *Watch) Look() (lags []Lag, next int64) {
	next = never
	w.quiet = true
	now := w.page.Now()
	for _, pid := range w.page.Processes() {
		p := w.processes[pid]
		if p == nil {
			p = &process{pid: pid, threads: map[int]*thread{}}
			w.processes[pid] = p
		}
		lag, until, err := p.look(w.page, w.looked, now)
		if err != nil { // it has ended
			p.close()
			delete(w.processes, pid)
			w.page.Remove(pid)
			continue
		}
		if lag > 0 {
			lags = append(lags, Lag{Late: time.Duration(lag), PID: pid})
		}
		next = min(next, until)
		w.quiet = p.quiet() && w.quiet
	}
	w.looked = w.page.Now()
	return lags, next
}

// Moved tells that the clock has just been moved ahead, while all were still: no wait
// that is over by that was late before, and any other one that is seen began after it.
func (w *Watch) Moved() {
	w.looked = w.page.Now()
	for _, p := range w.processes {
		p.since = w.looked
		if p.waiting != nil {
			p.waiting.until = max(p.waiting.until, w.looked)
		}
	}
}

// Quiet tells whether all processes were seen to wait when they were looked at
// last, for what is not over yet.
func (w *Watch) Quiet() bool { return w.quiet }

// Still tells whether all processes are in the waits in which they were seen to be when
// they were looked at last, and none has run since, or is about to.
//
// One that wakes while this looks at the next is not seen. So the page must be held: no
// thread that wakes then gets to know the time, without which it computes no wait.
func (w *Watch) Still() bool {
	for _, pid := range w.page.Processes() {
		if p := w.processes[pid]; p == nil || !p.still() {
			return false
		}
	}
	return true
}

// Close lets the processes go.
func (w *Watch) Close() {
	for pid, p := range w.processes {
		p.close()
		delete(w.processes, pid)
	}
}

// process is one that lives by the page.
type process struct {
	pid     int
	task    *os.File        // the folder of its threads
	threads map[int]*thread // by thread ID
	began   int64           // CPU time of all threads when the last look began, ns: who has spent none since waits as was seen
	idle    bool            // the last look found that so
	since   int64           // no wait that goes on began earlier, in the cluster's time
	ended   int64           // the same when it ended: what a look brings about is work until the next
	stood   int64           // the same when its threads were last looked at one by one
	looks   int             // how often it was looked at
	listed  int             // looks since the threads were listed
	waiting *thread         // the one that waits for timers, as far as is known
	woken   *thread         // the one whose wait was ended, and that has not been seen to run since
}

// quiet tells, when a look ends, whether the process waits, and has not worked since the last one.
func (p *process) quiet() bool {
	before := p.ended
	p.ended = p.began
	if !p.idle {
		p.ended = page.CPUTime(p.pid)
	}
	return p.waiting != nil && p.woken == nil && p.ended == before
}

// still tells whether no thread of the process has run since the last look, or is about
// to. Those that wait for others of the process needn't be looked at again before one has
// worked. What a thread spends is known when it stops: hence the last comparison.
func (p *process) still() bool {
	if p.stood != p.ended {
		if p.list() != nil {
			return false
		}
		for _, t := range p.threads {
			t.parked = false
		}
		p.stood = p.ended
	}
	for _, t := range p.threads {
		if t.parked {
			continue
		}
		var doing [128]byte
		n, err := read(t.calling, doing[:])
		switch {
		case err != nil: // it has ended
		case bytes.HasPrefix(doing[:], running):
			return false
		default:
			t.parked = parked(doing[:n])
		}
	}
	return page.CPUTime(p.pid) == p.ended
}

// thread is a thread of a process.
type thread struct {
	id       int
	calling  int  // what it is doing in the kernel: the open /proc/PID/task/TID/syscall
	schedule int  // how long it has waited for a CPU: /proc/PID/task/TID/schedstat
	parked   bool // it waits for another thread of the process

	doing  [128]byte // what it did when it was looked at last
	looked int       // at which look at the process that was
	until  int64     // when that wait is over; 0 if it did something else

	late   int64 // how late its last wait was ended, ns of the cluster's time
	queued int64 // how long it had waited for a CPU until then, ns
	turns  int64 // how often it had got one
}

// look looks at a process that was looked at before at a time of the cluster, and is now
// at another.
func (p *process) look(clock *page.Page, before, now int64) (lag, until int64, err error) {
	p.looks++
	spent := page.CPUTime(p.pid)
	p.idle = spent == p.began
	p.began = spent
	if !p.idle {
		p.since = before
	}
	if p.woken != nil {
		var run bool
		if lag, run = p.woken.hasRun(clock.Speed()); run {
			p.woken = nil
		}
	}
	if t := p.waiting; p.idle && t != nil && t.until > now { // it is the wait it was
		t.looked = p.looks
		return lag, t.until, nil
	}
	// At speed 1 the kernel ends what begins while it works: which wait that is only
	// matters before the clock is moved.
	t, timeout, err := p.find(p.idle || clock.Speed() != 1)
	if err != nil || t == nil {
		return lag, never, err
	}
	if timeout >= 0 {
		if page.CPUTime(p.pid) != spent { // it has worked since this look began
			p.since = before
		}
		t.until = p.since + timeout
	}
	now = clock.Now()
	if now < t.until {
		return lag, t.until, nil
	}
	t.wake(p.pid, now)
	if p.woken == nil {
		p.woken = t
	}
	return lag, never, nil
}

// running is what /proc/PID/syscall says of a thread that is, or that waits for a CPU.
var running = []byte("running")

// zombie is what /proc/PID/syscall says of one that has ended, and is in no place any more.
var zombie = []byte("-1 0x0 0x0")

// Results of a look at a thread, beside a timeout in ns.
const (
	unending  = -1 // it waits without end
	unchanged = -2 // it is the wait that was seen before
	busy      = -3 // it does something else
)

// find returns the thread that waits for the process's timers, if one does,
// and for how long. It is the one that did, or any if all of them are to be looked at.
func (p *process) find(all bool) (*thread, int64, error) {
	if p.waiting != nil {
		// While it does, no other one can: so says Go's scheduler.
		if timeout, err := p.waiting.look(p.looks); err == nil && timeout != busy {
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
		timeout, err := t.look(p.looks)
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

// relist is after how many looks the threads are listed again in any case.
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
		tid, err := strconv.Atoi(name)
		if err != nil || p.threads[tid] != nil {
			continue
		}
		t := &thread{id: tid, calling: -1, schedule: -1}
		dir := fmt.Sprintf("/proc/%d/task/%d/", p.pid, tid)
		t.calling, err = syscall.Open(dir+"syscall", syscall.O_CLOEXEC, 0)
		if err == nil {
			t.schedule, err = syscall.Open(dir+"schedstat", syscall.O_CLOEXEC, 0)
		}
		if err != nil {
			t.close()
			continue // it has ended
		}
		p.threads[tid] = t
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

// look tells what a thread is doing at a look at its process.
func (t *thread) look(number int) (timeout int64, err error) {
	var doing [128]byte
	n, err := read(t.calling, doing[:])
	if err == nil && bytes.HasPrefix(doing[:], zombie) {
		err = os.ErrProcessDone
	}
	if err != nil {
		return 0, err
	}
	// What looks the same after others were looked at may be another wait.
	same := doing == t.doing && t.looked == number-1
	t.looked = number
	if same && t.until != 0 {
		return unchanged, nil
	}
	t.doing, t.until = doing, 0
	timeout, ok := parse(doing[:n])
	if !ok {
		return busy, nil
	}
	t.until = never
	return timeout, nil
}

// parse reads a line of /proc/PID/syscall: the number of the system call, its
// arguments, and where the thread is. Of the calls that wait, Go uses epoll_pwait
// for its timers, with a timeout in ms.
func parse(line []byte) (timeout int64, ok bool) {
	fields := bytes.Fields(line)
	if len(fields) < 5 {
		return 0, false // running
	}
	number, err := strconv.Atoi(string(fields[0]))
	if err != nil || number != epollPwait && number != epollWait {
		return 0, false
	}
	ms, err := strconv.ParseUint(string(bytes.TrimPrefix(fields[4], []byte("0x"))), 16, 64)
	if err != nil {
		return 0, false
	}
	if int32(ms) < 0 {
		return unending, true
	}
	return int64(int32(ms)) * 1e6, true
}

// parked tells whether a thread with such a line waits for another one of its process,
// without end.
func parked(line []byte) bool {
	fields := bytes.Fields(line)
	return len(fields) >= 5 && string(fields[0]) == strconv.Itoa(syscall.SYS_FUTEX) && string(fields[4]) == "0x0"
}

// wake ends the thread's wait.
func (t *thread) wake(pid int, now int64) {
	t.late = now - t.until
	t.queued, t.turns, _ = t.scheduled()
	t.until = never // until it is seen to do something else, or the same again
	t.doing = [128]byte{}
	_, _, _ = syscall.RawSyscall(syscall.SYS_TGKILL, uintptr(pid), uintptr(t.id), uintptr(syscall.SIGURG))
}

// hasRun returns how late a thread was whose wait was ended, once it has run.
func (t *thread) hasRun(speed float64) (lag int64, run bool) {
	queued, turns, err := t.scheduled()
	if err != nil {
		return 0, true // it has ended
	}
	if turns == t.turns {
		return 0, false
	}
	return t.late + int64(float64(queued-t.queued)*speed), true
}

// scheduled reads how long a thread has waited for a CPU, and how often it got one.
func (t *thread) scheduled() (queued, turns int64, err error) {
	var line [80]byte
	n, err := read(t.schedule, line[:])
	if err != nil {
		return 0, 0, err
	}
	fields := bytes.Fields(line[:n])
	if len(fields) < 3 {
		return 0, 0, errors.New("schedstat is not as expected")
	}
	queued, err = strconv.ParseInt(string(fields[1]), 10, 64)
	if err == nil {
		turns, err = strconv.ParseInt(string(fields[2]), 10, 64)
	}
	return queued, turns, err
}

func (t *thread) close() {
	for _, fd := range []int{t.calling, t.schedule} {
		if fd >= 0 {
			_ = syscall.Close(fd)
		}
	}
}

// read reads a file of /proc from its beginning. This takes microseconds and is
// done a thousand times a second, so Go's scheduler isn't told.
func read(fd int, into []byte) (int, error) {
	n, _, errno := syscall.RawSyscall6(syscall.SYS_PREAD64, uintptr(fd), uintptr(unsafe.Pointer(&into[0])), uintptr(len(into)), 0, 0, 0)
	switch {
	case errno != 0:
		return 0, errno
	case n == 0:
		return 0, os.ErrProcessDone
	}
	return int(n), nil
}
