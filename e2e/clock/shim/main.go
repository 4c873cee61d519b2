//go:build linux && (amd64 || arm64)

// Shim starts programs on a cluster's clock, and governs that clock.
//
//	shim run PAGE NAME PROGRAM [ARGUMENT...]   becomes PROGRAM, under NAME, on the clock of the page
//	shim govern PAGE PID FD                    puts a process on the clock of the page, which is its
//	                                           file FD, and governs the clock until standard input ends
//	shim selftest                              tests whether clocks can be bent here
//
// Run keeps its process ID, so its caller signals and waits for the program itself. If it
// can't bend the program's clock, it prints the reason, and the program uses the machine's
// clock.
package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"syscall"

	"github.com/plumbline-e2e/plumbline/e2e/clock/governor"
	"github.com/plumbline-e2e/plumbline/e2e/clock/ptrace"
	"github.com/plumbline-e2e/plumbline/e2e/clock/shm"
)

// A tracer is a thread, and execve needs the main thread. Only init can lock the main thread.
func init() { runtime.LockOSThread() } //nolint:gochecknoinits // see above

func main() {
	var err error
	switch args := os.Args; {
	case len(args) >= 5 && args[1] == "run":
		err = run(args[2], args[3], args[4], args[5:])
	case len(args) == 5 && args[1] == "fork":
		err = fork(args[2:])
	case len(args) == 5 && args[1] == "trace":
		err = withPage(args[2:], trace)
	case len(args) == 5 && args[1] == "govern":
		err = withPage(args[2:], govern)
	case len(args) == 2 && args[1] == "selftest":
		err = selftest()
	case len(args) == 3 && args[1] == "subject":
		err = runSubject(args[2])
	default:
		err = errors.New("usage: shim run PAGE NAME PROGRAM [ARGUMENT...] | shim govern PAGE PID FD | shim selftest")
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "plumbline's clock:", err)
		os.Exit(1)
	}
}

// run becomes the program. Unnoticed, another process bends its clock at exec and then ends.
func run(path, name, program string, args []string) error {
	if err := traceExec(path, program); err != nil {
		fmt.Fprintf(os.Stderr, "plumbline's clock: %s: %v\n", program, err)
		if p, err := shm.Open(path); err == nil { // else the clock has no governor any more
			p.SetUnbent(os.Getpid())
		}
	}
	if err := syscall.Exec(program, append([]string{name}, args...), os.Environ()); err != nil {
		return fmt.Errorf("executing %s: %w", program, err)
	}
	return nil
}

// traceExec starts a process that bends this process's clock when it executes a program.
func traceExec(path, program string) error {
	if err := ptrace.Check(program); err != nil {
		return err
	}
	p, err := os.Open(path)
	if err != nil {
		return fmt.Errorf("the cluster's clock: %w", err)
	}
	fd, err := syscall.Dup(int(p.Fd())) // stays open in execve, and bend closes it
	if err != nil {
		return err
	}
	ptrace.AllowTracer(ptrace.AnyTracer) // until the clock is bent
	self, err := os.Executable()
	if err != nil {
		return err
	}
	pid := strconv.Itoa(os.Getpid())
	helper := exec.Command(self, "fork", path, pid, strconv.Itoa(fd)) //nolint:noctx // it ends by itself
	helper.Stderr = os.Stderr                                         // with a pipe, Output would wait until trace ends
	out, err := helper.Output()
	if err != nil {
		return err
	}
	if said := strings.TrimSpace(string(out)); said != ready {
		return errors.New(said)
	}
	return nil
}

// ready is what trace and govern print when they are ready.
const ready = "ready"

// fork starts trace and ends, so that trace is no child of the program.
func fork(args []string) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	tracer := exec.Command(self, append([]string{"trace"}, args...)...) //nolint:noctx // it outlives this process
	tracer.Stdout, tracer.Stderr = os.Stdout, os.Stderr
	tracer.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	return tracer.Start()
}

// trace bends the clock of the next program that a process executes.
func trace(p *shm.Page, pid, fd int) error {
	err := ptrace.AttachAtExec(pid, fd, p, func() error {
		_, err := fmt.Println(ready)
		return errors.Join(err, os.Stdout.Close())
	})
	if err != nil {
		if syscall.Kill(pid, 0) == nil {
			p.SetUnbent(pid)
		}
		fmt.Println(err) // for traceExec, if it still waits
	}
	return err
}

// govern bends the clock of a process, prints ready, and governs the clock until standard
// input ends, at the latest with that process. It first waits for a byte from standard input,
// because the process must allow it to trace.
func govern(p *shm.Page, pid, fd int) error {
	if _, err := os.Stdin.Read(make([]byte, 1)); err != nil {
		return fmt.Errorf("waiting for the start byte on standard input: %w", err)
	}
	p.SetWriter()
	if err := ptrace.Attach(pid, fd, p); err != nil {
		return err
	}
	stop := make(chan struct{})
	go func() {
		defer close(stop)
		_, _ = os.Stdin.Read(make([]byte, 1))
	}()
	if _, err := fmt.Println(ready); err != nil {
		return err
	}
	governor.Run(p, stop)
	p.Set(1, 0) // no governor ends the waits of the remaining processes
	return nil
}

func withPage(args []string, do func(p *shm.Page, pid, fd int) error) error {
	pid, err := strconv.Atoi(args[1])
	if err != nil {
		return fmt.Errorf("process ID: %w", err)
	}
	fd, err := strconv.Atoi(args[2])
	if err != nil {
		return fmt.Errorf("file: %w", err)
	}
	p, err := shm.Open(args[0])
	if err != nil {
		return err
	}
	return do(p, pid, fd)
}
