//go:build linux && (amd64 || arm64)

// Package shm holds the shared memory of all processes of a cluster. They read the time from
// it, and the harness and the clock's governor communicate through it.
//
// Only the governor writes the clock. Most readers use the routine of package ptrace, which
// runs without Go. So the layout is fixed by hand, and must change together with that routine.
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

// Size is how much of the memory the routine maps, in bytes. Only our programs use the rest.
const Size = 4096

// maxProcesses is the largest number of processes of a cluster.
const maxProcesses = 512

// one is speed 1. Speeds are fixed-point numbers with 32 fractional bits.
const one = 1 << 32

// layout is the layout of the memory. The routine uses the offsets of the first six fields.
type layout struct {
	sequence uint64 // odd while the next fields are written
	real     int64  // CLOCK_MONOTONIC of the machine at the anchor, ns
	cluster  int64  // CLOCK_MONOTONIC of the cluster at the anchor, ns
	speed    uint64 // cluster time per real time since the anchor, see one
	wall     int64  // CLOCK_REALTIME minus CLOCK_MONOTONIC of the cluster, ns
	held     int64  // CLOCK_MONOTONIC of the machine until which readers wait, ns; 0: no hold

	writer int64 // process ID of the writer of the clock
	_      [Size - 7*8]byte

	processes [maxProcesses]uint64 // process IDs on this clock; 0: free

	// Requests of the harness, and the governor's answers.
	requested, obeyed uint64 // number of requests, and of those that the governor has followed
	limit             uint64 // limit of the speed, as math.Float64bits
	fixed             uint64 // 1: the limit is the exact speed
	target            int64  // the cluster's time at the end of the jump, ns; 0: no jump
	step              int64  // longest step of the jump, ns
	late              int64  // the worst lag, ns of the cluster's time
	latest            int64  // process ID with that lag
	unbent            int64  // process ID of the first process that can't use the page; 0: none
}

// Page is the mapped memory.
type Page struct {
	file *os.File
	*layout
}

// memfdCreate is the number of memfd_create(2), which package syscall lacks.
var memfdCreate = map[string]uintptr{"amd64": 319, "arm64": 279}[runtime.GOARCH]

// New makes a page at speed 1, with the machine's time. The memory has no name: it vanishes
// when no process has it open.
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

// Open maps a page of another process; see [Page.Path].
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

// File returns the page's memory as a file. The page still owns it.
func (p *Page) File() *os.File { return p.file }

// Path returns the page's path for other processes of this user while this process lives.
func (p *Page) Path() string { return fmt.Sprintf("/proc/%d/fd/%d", os.Getpid(), p.file.Fd()) }

// Writer returns the process ID of the clock's writer, or 0 if there is none yet.
func (p *Page) Writer() int { return int(atomic.LoadInt64(&p.writer)) }

// SetWriter makes this process the writer of the clock.
func (p *Page) SetWriter() { atomic.StoreInt64(&p.writer, int64(os.Getpid())) }

// Set sets the clock's speed and moves the clock ahead. Only the writer may call it.
func (p *Page) Set(speed float64, ahead time.Duration) {
	set(p.layout, uint64(speed*one), int64(ahead), math.MaxInt64)
}

// Hold makes all readers of the time wait, also in this process, until [Page.Move] or
// [Page.Release], or until the lease (real time) is over. So no reader waits for a killed
// writer. Only the writer may call it.
func (p *Page) Hold(lease time.Duration) { atomic.SwapInt64(&p.held, Monotonic()+int64(lease)) }

// Release ends a hold without a change of the clock.
func (p *Page) Release() { atomic.StoreInt64(&p.held, 0) }

// Move moves the clock ahead and ends the hold. After the lease it returns false and leaves
// the clock, because a process may have read the time since the hold began.
func (p *Page) Move(by time.Duration) bool {
	return set(p.layout, atomic.LoadUint64(&p.speed), int64(by), atomic.LoadInt64(&p.held))
}

// set moves the anchor to the present if the machine's time is less than before. It reads the
// time while readers wait. Otherwise a reader with a later time at the old speed could see
// time go backward.
//
//go:noescape
func set(l *layout, speed uint64, ahead, before int64) bool

// Speed returns the clock's speed.
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

// Add adds a process to the list of processes on this clock.
func (p *Page) Add(pid int) error {
	for i := range p.processes {
		if atomic.CompareAndSwapUint64(&p.processes[i], 0, uint64(pid)) {
			return nil
		}
	}
	return fmt.Errorf("more than %d processes use one clock", maxProcesses)
}

// Remove removes a process from the list.
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

// Close unmaps the page in this process. Processes on its clock continue.
func (p *Page) Close() error {
	mem := unsafe.Slice((*byte)(unsafe.Pointer(p.layout)), unsafe.Sizeof(layout{}))
	p.layout = nil
	return errors.Join(syscall.Munmap(mem), p.file.Close())
}
