//go:build linux && (amd64 || arm64)

package shm

import (
	"math/bits"
	"syscall"
	"time"
	"unsafe"
)

// Clocks of clock_gettime(2).
const (
	realtime  = 0
	monotonic = 1
)

// Monotonic returns the machine's CLOCK_MONOTONIC, in ns. It asks the kernel and not the vDSO,
// so it works with a bent clock.
func Monotonic() int64 { return gettime(monotonic) }

// Realtime returns the machine's CLOCK_REALTIME in the same way, in ns since 1970.
func Realtime() int64 { return gettime(realtime) }

// CPUTime returns the CPU time of all threads of a process, in ns. It reads the process's CPU
// clock; see MAKE_PROCESS_CPUCLOCK in the kernel's include/linux/posix-timers.h. The kernel
// adds a thread's time when it stops, or at the next tick.
func CPUTime(pid int) int64 { return gettime(uintptr(^pid<<3 | 2)) }

func gettime(clock uintptr) int64 {
	var t [2]int64 // seconds and nanoseconds, on all 64-bit systems
	_, _, _ = syscall.RawSyscall(syscall.SYS_CLOCK_GETTIME, clock, uintptr(unsafe.Pointer(&t)), 0)
	return t[0]*1e9 + t[1]
}

// Sleep sleeps in real time, even with a bent clock. It blocks a thread.
func Sleep(d time.Duration) {
	t := syscall.NsecToTimespec(int64(max(d, 0)))
	for syscall.Nanosleep(&t, &t) == syscall.EINTR {
	}
}

// scale converts real time to the cluster's time. The routine computes the same.
func scale(d int64, speed uint64) int64 {
	hi, lo := bits.Mul64(uint64(d), speed)
	return int64(hi<<32 | lo>>32)
}
