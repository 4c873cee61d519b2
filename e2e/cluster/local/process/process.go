// Package process finds, watches and ends processes that are nobody's
// children: those of a control plane outlive the command that started them,
// and those of a dead run its runner.
//
// A process is known by its id and the moment it started, so one that got the
// id of a dead one is never taken for it. A zombie counts as dead: who reaps
// orphans is up to the system, and in many containers nobody does.
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
	killed = 10 * time.Second // how long SIGKILL may take: it waits for system calls that can't be interrupted
)

// ErrNone is what [Find] returns for a process that doesn't exist or is dead.
var ErrNone = errors.New("no such process")

// Process is one process, alive or dead.
type Process struct {
	PID     int
	started string // when, in the system's own words
}

// status is what the system tells about a process.
type status struct {
	started string
	zombie  bool
}

// program is what a process runs.
type program struct {
	exe  string // the file, symbolic links resolved; empty if that can't be known
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

// Alive tells whether the process still runs.
func (p Process) Alive() bool {
	now, err := Find(p.PID)
	return err == nil && now == p
}

// signal signals the process, and no other one that got its id since: the
// handle is taken first, then it's made sure whose it is.
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

// Kill ends the process (SIGKILL), and returns when it's gone.
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

// Pause stops the process without ending it, until Resume.
func (p Process) Pause() error { return p.signal(syscall.SIGSTOP) }

// Resume lets a paused process go on.
func (p Process) Resume() error { return p.signal(syscall.SIGCONT) }

// Within returns the living processes whose program lies in a folder, by the
// path under which it was started or by the file that it runs. Being named in
// an argument isn't enough: somebody may be looking at a log.
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
			continue // gone meanwhile, or somebody else's
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

// End ends all processes whose program lies in a folder: it asks them (SIGTERM),
// kills what is left after the grace period (at once if it's zero, or as soon
// as ctx ends) and returns when they're gone. It doesn't give up when ctx ends;
// the error names those that even SIGKILL didn't end within ten seconds.
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
