package hostnode

import (
	"errors"
	"os/exec"
	"runtime"
	"sync"
	"syscall"
	"time"

	"github.com/plumbline-e2e/plumbline/e2e/clock"
)

// starter is the start of processes from one OS thread, which lives as long as the starter. On
// Linux a child dies with its parent *thread* (PR_SET_PDEATHSIG). From another thread of Go's,
// it could die while the harness lives.
type starter struct {
	calls chan func()
	clock *clock.Clock // of the processes; nil: the machine's

	mu      sync.Mutex
	running map[*process]bool
	killing bool // no process may start any more
}

func newStarter(c *clock.Clock) *starter {
	s := &starter{calls: make(chan func()), clock: c, running: map[*process]bool{}}
	go func() {
		runtime.LockOSThread() // never unlocked: the thread ends with the goroutine
		for call := range s.calls {
			call()
		}
	}()
	return s
}

// process is a running process with its children, in one process group.
type process struct {
	cmd  *exec.Cmd
	done chan struct{} // closed once it has ended
	code int           // valid after done: exit code, or 128 + the signal that ended it

	unbent error // why it doesn't use the cluster's clock; nil if it does or there is none
}

var errEnding = errors.New("the node is being closed")

// start runs the command in its own process group, with a wall clock that is ahead of the
// cluster's. Its output must go to files, so that nothing has to be copied.
func (s *starter) start(cmd *exec.Cmd, ahead time.Duration) (*process, error) {
	if cmd.SysProcAttr == nil {
		cmd.SysProcAttr = &syscall.SysProcAttr{}
	}
	cmd.SysProcAttr.Setpgid = true
	dieWithParent(cmd.SysProcAttr)

	s.mu.Lock()
	defer s.mu.Unlock()
	if s.killing {
		return nil, errEnding
	}
	p := &process{cmd: cmd, done: make(chan struct{})}
	started := make(chan error)
	s.calls <- func() {
		if s.clock == nil {
			started <- cmd.Start()
			return
		}
		var err error
		p.unbent, err = s.clock.Start(cmd, ahead)
		started <- err
	}
	if err := <-started; err != nil {
		return nil, err
	}
	s.running[p] = true
	go s.wait(p)
	return p, nil
}

func (s *starter) wait(p *process) {
	_ = p.cmd.Wait() // how it ended is in the state
	// End its children too: there is no PID namespace that would.
	p.kill()
	p.code = p.cmd.ProcessState.ExitCode()
	if status, ok := p.cmd.ProcessState.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		p.code = 128 + int(status.Signal())
	}
	s.mu.Lock()
	delete(s.running, p)
	s.mu.Unlock()
	close(p.done)
}

// kill ends the whole group.
func (p *process) kill() { _ = syscall.Kill(-p.cmd.Process.Pid, syscall.SIGKILL) }

// stop sends SIGTERM, and SIGKILL after grace. It returns when the process has ended.
func (p *process) stop(grace time.Duration) {
	if grace > 0 {
		_ = p.cmd.Process.Signal(syscall.SIGTERM) // its first process only, as a container runtime does
		timeout := time.NewTimer(grace)
		defer timeout.Stop()
		select {
		case <-p.done:
			return
		case <-timeout.C:
		}
	}
	p.kill()
	<-p.done
}

// killAll ends every process now, and prevents later starts.
func (s *starter) killAll() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.killing = true
	for p := range s.running {
		p.kill()
	}
}

func (s *starter) close() {
	s.killAll()
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.calls != nil {
		close(s.calls)
		s.calls = nil
	}
}
