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

type thread struct {
	id        int
	syscall   int  // file descriptor of /proc/PID/task/TID/syscall
	schedstat int  // file descriptor of schedstat in the same folder
	parked    bool // it waits for another thread of the process

	call    [128]byte // content of syscall at the last scan
	scanned int       // number of that scan
	until   int64     // end of that wait, in the cluster's time; 0: it did not wait

	late   int64 // how late the governor ended its last wait, ns of the cluster's time
	queued int64 // its wait for CPUs until then, ns
	turns  int64 // how often it had got a CPU until then
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

// running is how /proc/PID/syscall begins for a thread that runs or waits for a CPU.
var running = []byte("running")

// zombie is how /proc/PID/syscall begins for a thread that has ended.
var zombie = []byte("-1 0x0 0x0")

// Results of a thread's scan other than a timeout in ns.
const (
	unending  = -1 // an endless wait
	unchanged = -2 // the same wait as in the last scan
	busy      = -3 // no wait for timers
)

// scan returns the timeout of the thread's wait in ns, unending, unchanged or busy. number is
// the number of the process's scan.
func (t *thread) scan(number int) (timeout int64, err error) {
	var call [128]byte
	n, err := read(t.syscall, call[:])
	if err == nil && bytes.HasPrefix(call[:], zombie) {
		err = os.ErrProcessDone
	}
	if err != nil {
		return 0, err
	}
	// If the last scan skipped this thread, an equal line may be another wait.
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

// epoll holds the system calls by which Go waits for its timers, with a timeout in ms.
var epoll = map[string][]string{
	"amd64": {"232", "281"}, // epoll_wait, epoll_pwait
	"arm64": {"22"},
}[runtime.GOARCH]

// parse parses a line of /proc/PID/syscall (number of the system call, arguments, stack
// pointer, program counter). It returns the timeout of a wait for timers, in ns.
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

// files holds the system calls that wait for a disk. A disk that is busy takes seconds, and what it keeps waiting, such
// as etcd, must not be late for that.
var files = []int{
	syscall.SYS_PREAD64, syscall.SYS_WRITE, syscall.SYS_WRITEV, syscall.SYS_PWRITE64, syscall.SYS_FSYNC,
	syscall.SYS_FDATASYNC, syscall.SYS_FTRUNCATE, syscall.SYS_FALLOCATE,
}

// works reports whether a thread with such a line runs, is about to, or waits for a disk: in a system call, or outside
// of any, for a page of a file that it has mapped.
func works(line []byte) bool {
	if bytes.HasPrefix(line, running) {
		return true
	}
	number, _, _ := bytes.Cut(line, []byte(" "))
	call, err := strconv.Atoi(string(number))
	return err == nil && (slices.Contains(files, call) || call == -1 && !bytes.HasPrefix(line, zombie))
}

// parked reports whether a thread with such a line waits without a timeout for another thread
// of its process.
func parked(line []byte) bool {
	fields := bytes.Fields(line)
	return len(fields) >= 5 && string(fields[0]) == strconv.Itoa(syscall.SYS_FUTEX) && string(fields[4]) == "0x0"
}

func (t *thread) wake(pid int, now int64) {
	t.late = now - t.until
	t.queued, t.turns, _ = t.scheduled()
	t.until = never // until a scan sees what it does next
	t.call = [128]byte{}
	_, _, _ = syscall.RawSyscall(syscall.SYS_TGKILL, uintptr(pid), uintptr(t.id), uintptr(syscall.SIGURG))
}

// hasRun reports whether a thread has run since its wait was ended, and its lag.
func (t *thread) hasRun(speed float64) (lag int64, run bool) {
	queued, turns, err := t.scheduled()
	if err != nil {
		return 0, true // the thread has ended
	}
	if turns == t.turns {
		return 0, false
	}
	return t.late + int64(float64(queued-t.queued)*speed), true
}

// scheduled returns how long a thread has waited for CPUs, in ns, and how often it got one.
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

// read reads a file of /proc from its start. It takes microseconds and runs a thousand times a
// second, so it bypasses Go's scheduler.
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
