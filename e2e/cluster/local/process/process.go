// Package process finds, watches and ends processes that are not children of the harness: a
// control plane outlives the command that started it, and a dead run leaves its processes.
//
// A process is identified by its ID and start time, so a reused ID is never mistaken for it. A
// zombie counts as dead, because in many containers nothing reaps orphans.
package process

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

const (
	poll   = 20 * time.Millisecond
	killed = 10 * time.Second // for SIGKILL, which waits for uninterruptible system calls
)

// ErrNone is the error of [Find] for a process that doesn't exist or is dead.
var ErrNone = errors.New("no such process")

// Process is one process, alive or dead.
type Process struct {
	PID     int
	started string // in the system's own format
}

// status is what the system reports about a process.
type status struct {
	started string
	zombie  bool
}

// program is what a process runs.
type program struct {
	exe  string // the file, symbolic links resolved; empty if unknown
	args []string
}

// Find returns the living process with this id, or [ErrNone].
func Find(pid int) (Process, error) {
	s, err := inspect(pid)
	if err != nil {
		return Process{}, fmt.Errorf("process %d: %w", pid, err)
	}
	if s.zombie {
		return Process{}, fmt.Errorf("process %d: %w", pid, ErrNone)
	}
	return Process{PID: pid, started: s.started}, nil
}

// Alive reports whether the process still runs.
func (p Process) Alive() bool {
	now, err := Find(p.PID)
	return err == nil && now == p
}

// signal signals the process. It takes the handle before it checks the identity, so that it
// never signals another process with a reused ID.
func (p Process) signal(sig os.Signal) error {
	handle, err := os.FindProcess(p.PID)
	if err != nil {
		return err
	}
	defer func() { _ = handle.Release() }()
	if !p.Alive() {
		return nil
	}
	if err := handle.Signal(sig); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return fmt.Errorf("process %d: %w", p.PID, err)
	}
	return nil
}

// Kill ends the process (SIGKILL), and returns when it is gone.
func (p Process) Kill() error {
	if err := p.signal(syscall.SIGKILL); err != nil {
		return err
	}
	tick := time.NewTicker(poll)
	defer tick.Stop()
	for begin := time.Now(); p.Alive(); <-tick.C {
		if time.Since(begin) > killed {
			return fmt.Errorf("process %d is still there %s after SIGKILL", p.PID, killed)
		}
	}
	return nil
}

// Pause sends SIGSTOP.
func (p Process) Pause() error { return p.signal(syscall.SIGSTOP) }

// Resume sends SIGCONT.
func (p Process) Resume() error { return p.signal(syscall.SIGCONT) }

// Within returns the living processes whose program lies in a folder, by its start path or by
// its file. An argument in the folder isn't enough: it may be somebody reading a log.
func Within(dir string) ([]Process, error) {
	dirs := []string{filepath.Clean(dir)}
	if real, err := filepath.EvalSymlinks(dir); err == nil {
		dirs = append(dirs, real)
	}
	pids, err := list()
	if err != nil {
		return nil, fmt.Errorf("list processes: %w", err)
	}
	var found []Process
	for _, pid := range pids {
		if pid == os.Getpid() {
			continue
		}
		s, err := inspect(pid)
		if err != nil || s.zombie {
			continue // gone meanwhile, or another user's
		}
		if programOf(pid).liesIn(dirs) {
			found = append(found, Process{PID: pid, started: s.started})
		}
	}
	return found, nil
}

func (p program) liesIn(dirs []string) bool {
	for _, dir := range dirs {
		in := dir + string(filepath.Separator)
		if strings.HasPrefix(p.exe, in) || len(p.args) > 0 && strings.HasPrefix(p.args[0], in) {
			return true
		}
	}
	return false
}

// End ends all processes whose program lies in a folder, and returns when they are gone. It
// sends SIGTERM, and SIGKILL after the grace period or when ctx ends. It doesn't stop waiting
// when ctx ends. The error names those that SIGKILL didn't end within ten seconds.
func End(ctx context.Context, dir string, grace time.Duration) error {
	start := time.Now()
	tick := time.NewTicker(poll)
	defer tick.Stop()
	asked := map[Process]bool{}
	for {
		left, err := Within(dir)
		if err != nil || len(left) == 0 {
			return err
		}
		waited := time.Since(start)
		if waited > grace+killed {
			return fmt.Errorf("processes %v of %s are still there %s after SIGKILL", pidsOf(left), dir, killed)
		}
		kill := waited >= grace || ctx.Err() != nil
		for _, p := range left {
			if kill {
				err = errors.Join(err, p.signal(syscall.SIGKILL))
			} else if !asked[p] {
				asked[p] = true
				err = errors.Join(err, p.signal(syscall.SIGTERM))
			}
		}
		if err != nil {
			return fmt.Errorf("end the processes of %s: %w", dir, err)
		}
		<-tick.C
	}
}

func pidsOf(ps []Process) []int {
	ids := make([]int, len(ps))
	for i, p := range ps {
		ids[i] = p.PID
	}
	return ids
}
