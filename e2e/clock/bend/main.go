//go:build linux && (amd64 || arm64)

// Bend makes programs live by a cluster's clock.
//
//	bend run PAGE NAME PROGRAM [ARGUMENT...]   becomes PROGRAM, under NAME, living by the page
//	bend keep PAGE PID FD                      makes a process live by the page, which is its file FD, and
//	                                           keeps the clock until its standard input ends
//	bend selftest                              tries whether clocks can be bent here
//
// Run keeps its process ID: whoever starts it, signals it or waits for it has to
// do with the program itself. If the program can't be bent, it says so and runs
// it by the machine's clock.
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

	"github.com/plumbline-e2e/plumbline/e2e/clock/inject"
	"github.com/plumbline-e2e/plumbline/e2e/clock/keep"
	"github.com/plumbline-e2e/plumbline/e2e/clock/page"
)

// Who traces is a thread, and who executes a program must be the main one: only
// from here on can that be had.
func init() { runtime.LockOSThread() } //nolint:gochecknoinits // see above

func main() {
	var err error
	switch args := os.Args; {
	case len(args) >= 5 && args[1] == "run":
		err = run(args[2], args[3], args[4], args[5:])
	case len(args) == 4 && args[1] == "fork":
		err = fork(args[2], args[3])
	case len(args) == 5 && args[1] == "follow":
		err = follow(args[2], args[3], args[4])
	case len(args) == 5 && args[1] == "keep":
		err = keepClock(args[2], args[3], args[4])
	case len(args) == 2 && args[1] == "selftest":
		err = selftest()
	case len(args) == 3 && args[1] == "subject":
		err = runSubject(args[2])
	default:
		err = errors.New("usage: bend run PAGE NAME PROGRAM [ARGUMENT...] | bend keep PAGE PID FD | bend selftest")
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "plumbline's clock:", err)
		os.Exit(1)
	}
}

// run becomes the program. A process that nobody waits for, since the program
// knows nothing of it, bends the clock when the program is loaded, and ends.
func run(path, name, program string, args []string) error {
	if err := bent(path, program); err != nil {
		fmt.Fprintf(os.Stderr, "plumbline's clock: %s: %v\n", program, err)
		except(path, os.Getpid())
	}
	if err := syscall.Exec(program, append([]string{name}, args...), os.Environ()); err != nil {
		return fmt.Errorf("executing %s: %w", program, err)
	}
	return nil
}

// bent gets everything ready for the clock to be bent as soon as a program is executed.
func bent(path, program string) error {
	if err := inject.Check(program); err != nil {
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
	inject.Allow(inject.Anybody) // until the clock is bent
	self, err := os.Executable()
	if err != nil {
		return err
	}
	helper := exec.Command(self, "fork", path, strconv.Itoa(fd)) //nolint:noctx // it ends by itself
	helper.Stderr = os.Stderr                                    // a pipe of Output's would only end with follow
	out, err := helper.Output()
	if err != nil {
		return err
	}
	if said := strings.TrimSpace(string(out)); said != ready {
		return errors.New(said)
	}
	return nil
}

// except has the clock run at speed 1, since a process can't live by it.
func except(path string, pid int) {
	if p, err := page.Open(path); err == nil { // else nobody keeps it any more
		p.Except(pid)
	}
}

// ready is what follow says when the program can be executed.
const ready = "ready"

// fork starts follow, and ends: so that it's no child of the program's.
func fork(path, fd string) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	follower := exec.Command(self, "follow", path, strconv.Itoa(os.Getppid()), fd) //nolint:noctx // it outlives this process
	follower.Stdout, follower.Stderr = os.Stdout, os.Stderr
	follower.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	return follower.Start()
}

func follow(path, pid, fd string) error {
	err := arguments(path, pid, fd, func(p *page.Page, pid, fd int) error {
		return inject.Follow(pid, fd, p, func() error {
			_, err := fmt.Println(ready)
			return errors.Join(err, os.Stdout.Close())
		})
	})
	if err != nil {
		if p, invalid := strconv.Atoi(pid); invalid == nil && syscall.Kill(p, 0) == nil {
			except(path, p)
		}
		fmt.Println(err) // for the one that waits for being ready, if it still does
	}
	return err
}

// keepClock bends the clock of a process when it is told to on standard input,
// since the process has to allow this one to, first; says that it is ready; and
// keeps the clock until standard input ends, which it does with that process.
func keepClock(path, pid, fd string) error {
	if _, err := os.Stdin.Read(make([]byte, 1)); err != nil {
		return fmt.Errorf("nobody said when: %w", err)
	}
	return arguments(path, pid, fd, func(p *page.Page, pid, fd int) error {
		p.Own()
		if err := inject.Attach(pid, fd, p); err != nil {
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
		keep.Keep(p, stop)
		p.Set(1, 0) // whoever lives on does so by a clock that nobody looks after
		return nil
	})
}

func arguments(path, pid, fd string, do func(p *page.Page, pid, fd int) error) error {
	process, err := strconv.Atoi(pid)
	if err != nil {
		return fmt.Errorf("process ID: %w", err)
	}
	file, err := strconv.Atoi(fd)
	if err != nil {
		return fmt.Errorf("file: %w", err)
	}
	p, err := page.Open(path)
	if err != nil {
		return err
	}
	return do(p, process, file)
}
