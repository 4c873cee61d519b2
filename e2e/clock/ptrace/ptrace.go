//go:build linux && (amd64 || arm64)

// Package ptrace makes a released program take its time from a cluster's page instead of the
// machine's clock.
//
// Programs ask for the time thousands of times a second. So the kernel gives each of them a
// small library, the vDSO, which answers without a system call. A Go program takes all its
// time from there, even if it is linked statically: time.Now, timers, deadlines. This package
// stops the program and changes it by ptrace(2), as a debugger does:
//
//  1. The program maps the page, and a second page with our routine (routine_linux_*.s),
//     which reads the machine's clock and computes the cluster's from it.
//  2. A jump to the routine overwrites the first bytes of the vDSO's clock_gettime.
//  3. The program continues, and is no longer traced.
//
// This changes only that process's vDSO. The kernel still uses the machine's clock, such as
// for the end of a wait or a file's time. Package governor ends waits in time.
//
// A process may trace its children. Some systems forbid it to trace others, so programs also
// name the writer of the page as their tracer (see ptrace_scope in the kernel's
// Documentation/admin-guide/LSM/Yama.rst).
package ptrace

import (
	"debug/buildinfo"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"syscall"
	"time"

	"github.com/plumbline-e2e/plumbline/e2e/clock/shm"
)

// Check returns why a program's clock can't be bent, or nil. It accepts only Go programs:
// others may read the time in other ways and may not expect the signals.
func Check(program string) error {
	if _, err := buildinfo.ReadFile(program); err != nil {
		return fmt.Errorf("its clock can't be bent: it is no Go program (%w)", err)
	}
	return nil
}

// Start starts a command that uses the page from its first instruction on. If its clock can't
// be bent, unbent is the reason, and the command uses the machine's clock. Its wall clock is
// ahead of the page's by a duration. The caller must have locked its goroutine to its thread.
func Start(cmd *exec.Cmd, p *shm.Page, ahead time.Duration) (unbent, err error) {
	if cmd.SysProcAttr == nil {
		cmd.SysProcAttr = &syscall.SysProcAttr{}
	}
	cmd.SysProcAttr.Ptrace = true // stops it when the program is loaded
	// The program may have its own root, in which the page has no path.
	fd := 3 + len(cmd.ExtraFiles)
	cmd.ExtraFiles = append(cmd.ExtraFiles, p.File())
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	pid := cmd.Process.Pid
	var status syscall.WaitStatus
	if _, err := wait(pid, &status); err != nil || !status.Stopped() {
		return nil, nil //nolint:nilerr // it was killed, and the caller's Wait reports that
	}
	if unbent = Check(fmt.Sprintf("/proc/%d/exe", pid)); unbent == nil {
		unbent = bend(pid, fd, p, ahead, true)
	}
	if unbent = errors.Join(unbent, syscall.PtraceDetach(pid)); unbent != nil {
		unbent = fmt.Errorf("%s: %w", cmd.Path, unbent)
	}
	return unbent, nil
}

// bend changes a process whose threads are all stopped. fd is the page's file there. bend
// closes it if closing is set.
func bend(pid, fd int, p *shm.Page, ahead time.Duration, closing bool) error {
	t, err := findVDSO(pid)
	if err != nil {
		return err
	}
	const read, execute = syscall.PROT_READ, syscall.PROT_READ | syscall.PROT_EXEC
	data, err := t.call(syscall.SYS_MMAP, 0, shm.Size, read, syscall.MAP_SHARED, uint64(fd), 0)
	if err != nil {
		return fmt.Errorf("mapping the page: %w", err)
	}
	const ownMemory = syscall.MAP_PRIVATE | syscall.MAP_ANONYMOUS
	text, err := t.call(syscall.SYS_MMAP, 0, shm.Size, execute, ownMemory, ^uint64(0), 0)
	if err != nil {
		return fmt.Errorf("mapping the routine: %w", err)
	}
	if closing {
		if _, err := t.call(syscall.SYS_CLOSE, uint64(fd)); err != nil {
			return err
		}
	}
	_, _ = t.call(syscall.SYS_PRCTL, setPtracer, uint64(p.Writer()))
	if err := t.write(text, routineFor(data, ahead)); err != nil {
		return err
	}
	if err := t.write(t.function, jumpTo(text)); err != nil {
		return err
	}
	return p.Add(pid)
}

// setPtracer is PR_SET_PTRACER of prctl(2), which fails without Yama.
const setPtracer = 0x59616d61

// AnyTracer is all processes of this user, for AllowTracer.
const AnyTracer = -1

// AllowTracer lets a process trace this one where Yama restricts tracing.
func AllowTracer(pid int) {
	_, _, _ = syscall.RawSyscall(syscall.SYS_PRCTL, setPtracer, uintptr(pid), 0)
}

// target is a stopped process and addresses in its vDSO.
type target struct {
	pid      int
	function uint64 // clock_gettime
	trap     uint64 // an instruction that makes a system call
}

func (t *target) write(at uint64, what []byte) error {
	if _, err := syscall.PtracePokeText(t.pid, uintptr(at), what); err != nil {
		return fmt.Errorf("writing to process %d: %w", t.pid, err)
	}
	return nil
}

// call makes a system call in the process's main thread and returns its result. It resends
// signals that arrive meanwhile.
func (t *target) call(number uintptr, args ...uint64) (uint64, error) {
	var before, regs syscall.PtraceRegs
	if err := syscall.PtraceGetRegs(t.pid, &before); err != nil {
		return 0, err
	}
	regs = before
	var six [6]uint64
	copy(six[:], args)
	setCall(&regs, t.trap, number, six)
	if err := errors.Join(syscall.PtraceSetRegs(t.pid, &regs), preventRestart(t.pid)); err != nil {
		return 0, err
	}
	for {
		if err := syscall.PtraceSingleStep(t.pid); err != nil {
			return 0, err
		}
		var status syscall.WaitStatus
		if _, err := wait(t.pid, &status); err != nil {
			return 0, err
		}
		if !status.Stopped() {
			return 0, fmt.Errorf("process %d ended", t.pid)
		}
		if sig := status.StopSignal(); sig != syscall.SIGTRAP {
			defer func() { _ = tgkill(t.pid, t.pid, sig) }()
			continue
		}
		if err := syscall.PtraceGetRegs(t.pid, &regs); err != nil {
			return 0, err
		}
		if programCounter(&regs) != t.trap {
			break
		}
	}
	if err := syscall.PtraceSetRegs(t.pid, &before); err != nil {
		return 0, err
	}
	if r := result(&regs); r < 0 && r > -4096 {
		return 0, syscall.Errno(-r)
	}
	return uint64(result(&regs)), nil
}

func wait(tid int, status *syscall.WaitStatus) (int, error) {
	const all = 0x40000000 // __WALL
	for {
		got, err := syscall.Wait4(tid, status, all, nil)
		if err != syscall.EINTR {
			return got, err
		}
	}
}

func tgkill(pid, tid int, sig syscall.Signal) error {
	_, _, errno := syscall.RawSyscall(syscall.SYS_TGKILL, uintptr(pid), uintptr(tid), uintptr(sig))
	if errno != 0 {
		return errno
	}
	return nil
}

func threads(pid int) ([]int, error) {
	entries, err := os.ReadDir(fmt.Sprintf("/proc/%d/task", pid))
	if err != nil {
		return nil, err
	}
	var tids []int
	for _, e := range entries {
		if tid, err := strconv.Atoi(e.Name()); err == nil {
			tids = append(tids, tid)
		}
	}
	return tids, nil
}
