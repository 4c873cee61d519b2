//go:build linux && (amd64 || arm64)

package governor

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"runtime"
	"slices"
	"strconv"
	"syscall"
	"unsafe"
)

// thread is a thread of a process.
type thread struct {
	id        int
	syscall   int  // file descriptor of /proc/PID/task/TID/syscall: what it does in the kernel
	schedstat int  // and of schedstat there: how long it has waited for a CPU
	parked    bool // it waits for another thread of the process

	call    [128]byte // what it did at the last scan
	scanned int       // which scan of the process that was
	until   int64     // when that wait is over; 0: it did something else

	late   int64 // how late its last wait was ended, ns of the cluster's time
	queued int64 // how long it had waited for a CPU until then, ns
	turns  int64 // how often it had got one
}

func openThread(pid, id int) (*thread, error) {
	t := &thread{id: id, syscall: -1, schedstat: -1}
	dir := fmt.Sprintf("/proc/%d/task/%d/", pid, id)
	var err error
	if t.syscall, err = syscall.Open(dir+"syscall", syscall.O_CLOEXEC, 0); err == nil {
		t.schedstat, err = syscall.Open(dir+"schedstat", syscall.O_CLOEXEC, 0)
	}
	if err != nil {
		t.close()
	}
	return t, err
}

func (t *thread) close() {
	for _, fd := range []int{t.syscall, t.schedstat} {
		if fd >= 0 {
			_ = syscall.Close(fd)
		}
	}
}

// running is what /proc/PID/syscall says of a thread that runs, or waits for a CPU.
var running = []byte("running")

// zombie is what /proc/PID/syscall says of a thread that has ended.
var zombie = []byte("-1 0x0 0x0")

// Results of a scan of a thread, beside a timeout in ns.
const (
	unending  = -1 // it waits without end
	unchanged = -2 // it is the wait that was seen before
	busy      = -3 // it does something else
)

// scan returns what a thread does at a scan of its process.
func (t *thread) scan(number int) (timeout int64, err error) {
	var call [128]byte
	n, err := read(t.syscall, call[:])
	if err == nil && bytes.HasPrefix(call[:], zombie) {
		err = os.ErrProcessDone
	}
	if err != nil {
		return 0, err
	}
	// If the last scan has left it out, what looks the same may be another wait.
	same := call == t.call && t.scanned == number-1
	t.scanned = number
	if same && t.until != 0 {
		return unchanged, nil
	}
	t.call, t.until = call, 0
	timeout, ok := parse(call[:n])
	if !ok {
		return busy, nil
	}
	t.until = never
	return timeout, nil
}

// epoll is the system calls by which Go waits for its timers, with a timeout in ms.
var epoll = map[string][]string{
	"amd64": {"232", "281"}, // epoll_wait, epoll_pwait
	"arm64": {"22"},
}[runtime.GOARCH]

// parse reads a line of /proc/PID/syscall: the number of the system call, its arguments,
// and where the thread is. It returns the timeout of a wait.
func parse(line []byte) (timeout int64, ok bool) {
	fields := bytes.Fields(line)
	if len(fields) < 5 || !slices.Contains(epoll, string(fields[0])) {
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

// parked reports whether a thread with such a line waits without end for another one of its
// process.
func parked(line []byte) bool {
	fields := bytes.Fields(line)
	return len(fields) >= 5 && string(fields[0]) == strconv.Itoa(syscall.SYS_FUTEX) && string(fields[4]) == "0x0"
}

// wake ends the thread's wait.
func (t *thread) wake(pid int, now int64) {
	t.late = now - t.until
	t.queued, t.turns, _ = t.scheduled()
	t.until = never // until it is seen to do something else, or the same again
	t.call = [128]byte{}
	_, _, _ = syscall.RawSyscall(syscall.SYS_TGKILL, uintptr(pid), uintptr(t.id), uintptr(syscall.SIGURG))
}

// hasRun reports whether a thread whose wait was ended has run since, and how late.
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

// scheduled reads how long a thread has waited for a CPU, in ns, and how often it got one.
func (t *thread) scheduled() (queued, turns int64, err error) {
	var line [80]byte
	n, err := read(t.schedstat, line[:])
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

// read reads a file of /proc from its beginning. This takes microseconds and is done a
// thousand times a second, so Go's scheduler isn't told.
func read(fd int, into []byte) (int, error) {
	at, size := uintptr(unsafe.Pointer(&into[0])), uintptr(len(into))
	n, _, errno := syscall.RawSyscall6(syscall.SYS_PREAD64, uintptr(fd), at, size, 0, 0, 0)
	switch {
	case errno != 0:
		return 0, errno
	case n == 0:
		return 0, os.ErrProcessDone
	}
	return int(n), nil
}
