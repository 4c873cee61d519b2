//go:build linux && (amd64 || arm64)

package ptrace

import (
	"errors"
	"fmt"
	"os"
	"syscall"

	"github.com/plumbline-e2e/plumbline/e2e/clock/shm"
)

// Requests of ptrace(2) that package syscall lacks.
const (
	seize     = 0x4206
	interrupt = 0x4207

	traceExec = 0x10     // PTRACE_O_TRACEEXEC
	execStop  = 4<<8 | 5 // PTRACE_EVENT_EXEC and SIGTRAP, as wait(2) reports them
)

func ptrace(request, tid, data int) error {
	_, _, errno := syscall.Syscall6(syscall.SYS_PTRACE, uintptr(request), uintptr(tid), 0, uintptr(data), 0, 0)
	if errno != 0 {
		return errno
	}
	return nil
}

// Attach bends the clock of a running process. fd is the page's file there. The caller must
// have locked its goroutine to its thread.
func Attach(pid, fd int, p *shm.Page) error {
	for retry := true; retry; {
		var err error
		if retry, err = attach(pid, fd, p); err != nil {
			return fmt.Errorf("bending the clock of process %d: %w", pid, err)
		}
	}
	return nil
}

// attach stops all threads of a process and bends its clock. The caller must retry if a thread
// is at an instruction that bend overwrites.
func attach(pid, fd int, p *shm.Page) (retry bool, err error) {
	held := map[int]bool{}
	var signals []func() error
	defer func() {
		for tid := range held {
			err = errors.Join(err, syscall.PtraceDetach(tid))
		}
		for _, again := range signals {
			err = errors.Join(err, again())
		}
	}()
	// Threads that still run may start others, so this repeats until it finds no new one.
	for news := true; news; {
		news = false
		tids, err := threads(pid)
		if err != nil {
			return false, err
		}
		for _, tid := range tids {
			if held[tid] {
				continue
			}
			switch err := ptrace(seize, tid, 0); {
			case errors.Is(err, syscall.ESRCH):
				continue // the thread has ended
			case err != nil:
				return false, err
			}
			held[tid], news = true, true
			if err := ptrace(interrupt, tid, 0); err != nil {
				return false, err
			}
			var status syscall.WaitStatus
			if _, err := wait(tid, &status); err != nil {
				return false, err
			}
			if sig := status.StopSignal(); sig != syscall.SIGTRAP {
				signals = append(signals, func() error { return tgkill(pid, tid, sig) })
			}
		}
	}
	t, err := findVDSO(pid)
	if err != nil {
		return false, err
	}
	for tid := range held {
		var regs syscall.PtraceRegs
		if err := syscall.PtraceGetRegs(tid, &regs); err != nil {
			return false, err
		}
		if at := programCounter(&regs); at >= t.function && at < t.function+uint64(len(jumpTo(0))) {
			return true, nil
		}
	}
	return false, bend(pid, fd, p, 0, false)
}

// AttachAtExec seizes a process, calls ready, and bends the clock of the program that the
// process then executes. fd is the page's file there. The caller must have locked its
// goroutine to its thread.
func AttachAtExec(pid, fd int, p *shm.Page, ready func() error) error {
	if err := ptrace(seize, pid, traceExec); err != nil {
		return fmt.Errorf("tracing process %d: %w", pid, err)
	}
	if err := ready(); err != nil {
		return errors.Join(err, syscall.PtraceDetach(pid))
	}
	var status syscall.WaitStatus
	for {
		if _, err := wait(pid, &status); err != nil {
			return err
		}
		if !status.Stopped() {
			return fmt.Errorf("process %d: %w", pid, os.ErrProcessDone)
		}
		if int(status)>>8 == execStop {
			break
		}
		if err := syscall.PtraceCont(pid, int(status.StopSignal())); err != nil {
			return err
		}
	}
	// The process is still in execve, whose result would overwrite our changes.
	if err := errors.Join(ptrace(interrupt, pid, 0), syscall.PtraceCont(pid, 0)); err != nil {
		return err
	}
	_, err := wait(pid, &status)
	if err == nil && !status.Stopped() {
		return fmt.Errorf("process %d: %w", pid, os.ErrProcessDone)
	}
	if err == nil {
		err = bend(pid, fd, p, 0, true)
	}
	if err = errors.Join(err, syscall.PtraceDetach(pid)); err != nil {
		return fmt.Errorf("bending the clock of process %d: %w", pid, err)
	}
	return nil
}
