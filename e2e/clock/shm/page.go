//go:build linux && (amd64 || arm64)

// Package shm holds the memory that all processes of a cluster share: from it they tell
// their time, and by it the harness and the clock's governor talk.
//
// The governor alone writes the clock. Any number of processes read it, most of them by
// the routine of package ptrace, which has no Go around it. So the layout is fixed by hand,
// and only changes together with that routine.
package shm

import (
	"errors"
	"fmt"
	"math"
	"os"
	"runtime"
	"sync/atomic"
	"syscall"
	"time"
	"unsafe"
)

// Size is how much of the memory the routine maps, in bytes. The rest is for our own programs.
const Size = 4096

// maxProcesses is how many processes a cluster may have.
const maxProcesses = 512

// one is the speed of real time: speeds are fixed-point numbers with 32 bits after the point.
const one = 1 << 32

// layout is what the memory holds. The routine knows the first six fields by their offsets.
type layout struct {
	sequence uint64 // odd while those that follow are being written
	real     int64  // CLOCK_MONOTONIC of the machine at the anchor, ns
	cluster  int64  // CLOCK_MONOTONIC of the cluster at the anchor, ns
	speed    uint64 // cluster time per real time since the anchor, see one
	wall     int64  // CLOCK_REALTIME less CLOCK_MONOTONIC, of the cluster, ns
	held     int64  // CLOCK_MONOTONIC of the machine until which readers wait, ns; 0: they don't

	writer int64 // process ID of the one that writes
	_      [Size - 7*8]byte

	processes [maxProcesses]uint64 // process IDs of those that live by this page; 0: free

	// What the harness asks the governor for, and what that answers.
	requested, obeyed uint64 // how many requests there were, and how many of them it has obeyed
	limit             uint64 // how fast the clock may run, as math.Float64bits
	fixed             uint64 // 1: it is to run at that very speed
	target            int64  // the cluster's time to jump to, ns; 0: there is no jump
	step              int64  // how far at once, ns
	late              int64  // the worst lag, ns of the cluster's time
	latest            int64  // whose it was: a process ID
	unbent            int64  // the first process that can't live by the page: its ID; 0: there is none
}

// Page is that memory, mapped.
type Page struct {
	file *os.File
	*layout
}

// memfdCreate is the number of memfd_create(2), which package syscall doesn't have.
var memfdCreate = map[string]uintptr{"amd64": 319, "arm64": 279}[runtime.GOARCH]

// New makes a page whose clock is the machine's, at speed 1. It is memory without a name:
// nothing is left of it when nobody has it open.
func New() (*Page, error) {
	const name, closeOnExec = "plumbline-clock\x00", 1
	fd, _, errno := syscall.Syscall(memfdCreate, uintptr(unsafe.Pointer(unsafe.StringData(name))), closeOnExec, 0)
	if errno != 0 {
		return nil, fmt.Errorf("memory for the cluster's clock: %w", errno)
	}
	file := os.NewFile(fd, "plumbline-clock")
	if err := file.Truncate(int64(unsafe.Sizeof(layout{}))); err != nil {
		return nil, errors.Join(err, file.Close())
	}
	p, err := mapFile(file)
	if err != nil {
		return nil, err
	}
	p.limit = math.Float64bits(1)
	now := Monotonic()
	p.real, p.cluster, p.speed, p.wall = now, now, one, gettime(realtime)-now
	return p, nil
}

// Open maps the page that another process has made; see [Page.Path].
func Open(path string) (*Page, error) {
	file, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return nil, fmt.Errorf("the cluster's clock: %w", err)
	}
	return mapFile(file)
}

func mapFile(file *os.File) (*Page, error) {
	const access = syscall.PROT_READ | syscall.PROT_WRITE
	mem, err := syscall.Mmap(int(file.Fd()), 0, int(unsafe.Sizeof(layout{})), access, syscall.MAP_SHARED)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("mapping the cluster's clock: %w", err), file.Close())
	}
	return &Page{file: file, layout: (*layout)(unsafe.Pointer(&mem[0]))}, nil
}

// File returns the page's memory as a file, which stays the page's own.
func (p *Page) File() *os.File { return p.file }

// Path returns where other processes of this user find the page while this one lives.
func (p *Page) Path() string { return fmt.Sprintf("/proc/%d/fd/%d", os.Getpid(), p.file.Fd()) }

// Writer returns the process that writes the clock; 0: there is none yet.
func (p *Page) Writer() int { return int(atomic.LoadInt64(&p.writer)) }

// SetWriter makes this process the one that writes the clock.
func (p *Page) SetWriter() { atomic.StoreInt64(&p.writer, int64(os.Getpid())) }

// Set makes the clock run at a speed from now on, and moves it ahead by a duration. Only
// the writer calls it.
func (p *Page) Set(speed float64, ahead time.Duration) {
	set(p.layout, uint64(speed*one), int64(ahead), math.MaxInt64)
}

// Hold makes all who ask for the time wait, this process too, until [Page.Move] or
// [Page.Release] is called, or the lease is over, in real time: nobody waits for a writer
// that was killed. Only the writer calls it.
func (p *Page) Hold(lease time.Duration) { atomic.SwapInt64(&p.held, Monotonic()+int64(lease)) }

// Release ends a hold. The clock goes on as if there had been none.
func (p *Page) Release() { atomic.StoreInt64(&p.held, 0) }

// Move moves the clock ahead, and ends the hold. Once the lease is over it returns false,
// and the clock stays, since somebody may have been told the time since the hold began.
func (p *Page) Move(by time.Duration) bool {
	return set(p.layout, atomic.LoadUint64(&p.speed), int64(by), atomic.LoadInt64(&p.held))
}

// set moves the anchor to the present, if that is before a time of the machine. It reads
// the time while readers wait: one that has read a later time under the old speed could
// otherwise see time go backwards.
//
//go:noescape
func set(l *layout, speed uint64, ahead, before int64) bool

// Speed returns how fast the clock runs.
func (p *Page) Speed() float64 { return float64(atomic.LoadUint64(&p.speed)) / one }

// Now returns the cluster's CLOCK_MONOTONIC, in ns.
func (p *Page) Now() int64 {
	for {
		s := atomic.LoadUint64(&p.sequence)
		now := Monotonic()
		if s&1 != 0 || now < atomic.LoadInt64(&p.held) {
			_, _, _ = syscall.RawSyscall(syscall.SYS_SCHED_YIELD, 0, 0, 0)
			continue
		}
		cluster := atomic.LoadInt64(&p.cluster) + scale(now-atomic.LoadInt64(&p.real), atomic.LoadUint64(&p.speed))
		if atomic.LoadUint64(&p.sequence) == s {
			return cluster
		}
	}
}

// Wall returns the cluster's CLOCK_REALTIME, in ns.
func (p *Page) Wall() int64 { return p.Now() + atomic.LoadInt64(&p.wall) }

// Add lists a process as one that lives by this page.
func (p *Page) Add(pid int) error {
	for i := range p.processes {
		if atomic.CompareAndSwapUint64(&p.processes[i], 0, uint64(pid)) {
			return nil
		}
	}
	return fmt.Errorf("more than %d processes live by one clock", maxProcesses)
}

// Remove takes a process off the list.
func (p *Page) Remove(pid int) {
	for i := range p.processes {
		atomic.CompareAndSwapUint64(&p.processes[i], uint64(pid), 0)
	}
}

// Processes returns the listed processes.
func (p *Page) Processes() []int {
	var pids []int
	for i := range p.processes {
		if pid := atomic.LoadUint64(&p.processes[i]); pid != 0 {
			pids = append(pids, int(pid))
		}
	}
	return pids
}

// Close ends the mapping in this process. Those that live by the page go on.
func (p *Page) Close() error {
	mem := unsafe.Slice((*byte)(unsafe.Pointer(p.layout)), unsafe.Sizeof(layout{}))
	p.layout = nil
	return errors.Join(syscall.Munmap(mem), p.file.Close())
}
