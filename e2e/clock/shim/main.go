//go:build linux && (amd64 || arm64)

// Shim starts programs on a cluster's clock, and governs that clock.
//
//	shim run PAGE NAME PROGRAM [ARGUMENT...]   becomes PROGRAM, under NAME, on the clock of the page
//	shim govern PAGE PID FD                    puts a process on the clock of the page, which is its
//	                                           file FD, and governs the clock until standard input ends
//	shim selftest                              tries whether clocks can be bent here
//
// Run keeps its process ID: whoever starts it, signals it or waits for it has to do with the
// program itself. If the program's clock can't be bent, shim says so, and the program lives
// by the machine's clock.
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

// A tracer is a thread, and the thread that executes a program must be the main one: it can
// only be had from here on.
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

// run becomes the program. Another process, of which the program knows nothing, bends its
// clock when it is loaded, and ends.
func run(path, name, program string, args []string) error {
	if err := traceExec(path, program); err != nil {
		fmt.Fprintf(os.Stderr, "plumbline's clock: %s: %v\n", program, err)
		if p, err := shm.Open(path); err == nil { // else nobody governs the clock any more
			p.SetUnbent(os.Getpid())
		}
	}
	if err := syscall.Exec(program, append([]string{name}, args...), os.Environ()); err != nil {
		return fmt.Errorf("executing %s: %w", program, err)
	}
	return nil
}

// traceExec starts a process that waits for this one to execute a program, to bend its clock.
func traceExec(path, program string) error {
	if err := ptrace.Check(program); err != nil {
		return err
	}
	p, err := os.Open(path)
	if err != nil {
		return fmt.Errorf("the cluster's clock: %w", err)
	}
	fd, err := syscall.Dup(int(p.Fd())) // which survives the execution, and is closed then
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
	helper.Stderr = os.Stderr                                         // a pipe of Output's would only end with trace
	out, err := helper.Output()
	if err != nil {
		return err
	}
	if said := strings.TrimSpace(string(out)); said != ready {
		return errors.New(said)
	}
	return nil
}

// ready is what trace says when the program can be executed.
const ready = "ready"

// fork starts trace, and ends, so that trace is no child of the program.
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

// trace bends the clock of the program that a process executes next.
func trace(p *shm.Page, pid, fd int) error {
	err := ptrace.AttachAtExec(pid, fd, p, func() error {
		_, err := fmt.Println(ready)
		return errors.Join(err, os.Stdout.Close())
	})
	if err != nil {
		if syscall.Kill(pid, 0) == nil {
			p.SetUnbent(pid)
		}
		fmt.Println(err) // for run, if it still waits
	}
	return err
}

// govern bends the clock of a process, says that it is ready, and governs the clock until
// standard input ends, which it does with that process. It begins when something comes from
// standard input, since the process must allow this one to trace it first.
func govern(p *shm.Page, pid, fd int) error {
	if _, err := os.Stdin.Read(make([]byte, 1)); err != nil {
		return fmt.Errorf("nobody said when: %w", err)
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
	p.Set(1, 0) // nobody ends the waits of those that live on
	return nil
}

// withPage does something with the arguments PAGE PID FD.
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
