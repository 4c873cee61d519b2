//go:build linux && (amd64 || arm64)

// Package page is the memory from which all processes of a cluster tell their
// time: how fast the cluster's clock runs, and where it stood when that was set.
//
// One process writes it, the clock's keeper; any number read it, most of them by the routine of
// package inject, which has no Go around it. So the layout is fixed by hand, and
// only changes together with the routine.
package page

import (
	"errors"
	"fmt"
	"math"
	"os"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
	"unsafe"
)

// Size is how much of the file the routine maps, in bytes. What follows is the
// list of processes, which only ours map.
const Size = 4096

// slots is how many processes a cluster may have.
const slots = 512

// One is the speed of real time: speeds are fixed-point numbers with 32 bits
// after the point.
const One = 1 << 32

// layout is what the file holds. The routine knows the first six fields by
// their offsets.
type layout struct {
	sequence uint64 // odd while those that follow are being written
	real     int64  // CLOCK_MONOTONIC of the machine at the anchor, ns
	cluster  int64  // CLOCK_MONOTONIC of the cluster at the anchor, ns
	speed    uint64 // cluster time per real time since the anchor, see One
	wall     int64  // CLOCK_REALTIME less CLOCK_MONOTONIC, of the cluster, ns
	held     int64  // CLOCK_MONOTONIC of the machine until which readers wait, ns; 0: they don't

	writer int64 // process ID of the one that writes
	_      [Size - 7*8]byte

	processes [slots]uint64 // process IDs of those that live by this page; 0: free

	// What the keeper of the clock is asked for, and what it answers.
	asked, answered uint64 // how often it was, and up to which time it has done so
	limit           uint64 // how fast the clock may run, as math.Float64bits
	fixed           uint64 // 1: it is to run at that very speed
	until           int64  // up to which time it is to jump, ns; 0: it isn't
	stride          int64  // and how far at once, ns
	late            int64  // the worst lag since that was asked for last, ns of the cluster's time
	latest          int64  // whose it was: a process ID
	unbent          int64  // the first process that was to live by the page, and can't: its ID; 0: none
}

// Page is a mapped page.
type Page struct {
	file *os.File
	*layout

	writing sync.Mutex
}

// New makes a page whose clock is that of the machine, at speed 1. It is
// memory without a name: nothing is left of it when nobody has it open.
func New() (*Page, error) {
	name, err := syscall.BytePtrFromString("plumbline-clock")
	if err != nil {
		return nil, err
	}
	fd, _, errno := syscall.Syscall(memfdCreate, uintptr(unsafe.Pointer(name)), closeOnExec, 0)
	if errno != 0 {
		return nil, fmt.Errorf("a page for the cluster's clock: %w", errno)
	}
	file := os.NewFile(fd, "plumbline-clock")
	if err := file.Truncate(int64(unsafe.Sizeof(layout{}))); err != nil {
		return nil, errors.Join(err, file.Close())
	}
	p, err := mapped(file)
	if err != nil {
		return nil, err
	}
	p.limit = math.Float64bits(1)
	now := Monotonic()
	p.real, p.cluster, p.speed, p.wall = now, now, One, gettime(realtime)-now
	return p, nil
}

// Open maps the page that another process has made; see [Page.Path].
func Open(path string) (*Page, error) {
	file, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return nil, fmt.Errorf("the cluster's clock: %w", err)
	}
	return mapped(file)
}

func mapped(file *os.File) (*Page, error) {
	mem, err := syscall.Mmap(int(file.Fd()), 0, int(unsafe.Sizeof(layout{})), syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_SHARED)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("mapping the cluster's clock: %w", err), file.Close())
	}
	return &Page{file: file, layout: (*layout)(unsafe.Pointer(&mem[0]))}, nil
}

// File is the memory that the page lies in, as a file. It is the page's own.
func (p *Page) File() *os.File { return p.file }

// Path is where other processes of this user find the page while this one lives.
func (p *Page) Path() string { return fmt.Sprintf("/proc/%d/fd/%d", os.Getpid(), p.file.Fd()) }

// Writer is the process that writes the page; 0 if there is none yet.
func (p *Page) Writer() int { return int(atomic.LoadInt64(&p.writer)) }

// Own makes this process the one that writes the page.
func (p *Page) Own() { atomic.StoreInt64(&p.writer, int64(os.Getpid())) }

// Set makes the clock run at a speed from now on, and moves it ahead by a
// duration. It is for the one writer.
func (p *Page) Set(speed float64, ahead time.Duration) {
	p.writing.Lock()
	defer p.writing.Unlock()
	set(p.layout, uint64(speed*One), int64(ahead), math.MaxInt64)
}

// Hold makes all who ask for the time wait, this process too, until the clock is moved
// or released. After a lease of real time they go on in any case, lest they wait for a
// writer that was killed. It is for the one writer.
func (p *Page) Hold(lease time.Duration) { atomic.SwapInt64(&p.held, Monotonic()+int64(lease)) }

// Release ends a hold. The clock goes on as if there had been none.
func (p *Page) Release() { atomic.StoreInt64(&p.held, 0) }

// Move moves the clock ahead, and ends the hold. It reports whether it did: once the
// lease is over, somebody may have been told the time since, and the clock stays.
func (p *Page) Move(by time.Duration) bool {
	p.writing.Lock()
	defer p.writing.Unlock()
	return set(p.layout, atomic.LoadUint64(&p.speed), int64(by), atomic.LoadInt64(&p.held))
}

// set moves the anchor to the present, if that is before a time of the machine. The time
// is read while readers are held back: one that has read a later time under the old speed
// could otherwise be seen to go backwards.
//
//go:noescape
func set(l *layout, speed uint64, ahead, before int64) bool

// Speed is how fast the clock runs.
func (p *Page) Speed() float64 { return float64(atomic.LoadUint64(&p.speed)) / One }

// Now is the cluster's CLOCK_MONOTONIC, in ns.
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

// Wall is the cluster's CLOCK_REALTIME, in ns.
func (p *Page) Wall() int64 { return p.Now() + atomic.LoadInt64(&p.wall) }

// Add lists a process as one that lives by this page.
func (p *Page) Add(pid int) error {
	for i := range p.processes {
		if atomic.CompareAndSwapUint64(&p.processes[i], 0, uint64(pid)) {
			return nil
		}
	}
	return fmt.Errorf("more than %d processes live by one clock", slots)
}

// Remove takes a process off the list.
func (p *Page) Remove(pid int) {
	for i := range p.processes {
		atomic.CompareAndSwapUint64(&p.processes[i], uint64(pid), 0)
	}
}

// Processes are the listed ones.
func (p *Page) Processes() []int {
	var pids []int
	for i := range p.processes {
		if pid := atomic.LoadUint64(&p.processes[i]); pid != 0 {
			pids = append(pids, int(pid))
		}
	}
	return pids
}

// Close ends the mapping in this process. Those that live by it go on.
func (p *Page) Close() error {
	mem := unsafe.Slice((*byte)(unsafe.Pointer(p.layout)), unsafe.Sizeof(layout{}))
	p.layout = nil
	return errors.Join(syscall.Munmap(mem), p.file.Close())
}
