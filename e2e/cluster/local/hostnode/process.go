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

// starter starts processes from one OS thread that lives as long as itself.
// Linux ends a child with its parent *thread* (PR_SET_PDEATHSIG): started from
// any thread of Go's, it could die although the harness lives.
type starter struct {
	calls chan func()
	clock *clock.Clock // that processes live by; nil: the machine's

	mu      sync.Mutex
	running map[*process]bool
	killing bool // nothing may be started any more
}

func newStarter(c *clock.Clock) *starter {
	s := &starter{calls: make(chan func()), clock: c, running: map[*process]bool{}}
	go func() {
		runtime.LockOSThread() // and never unlocked: the thread ends with the goroutine
		for call := range s.calls {
			call()
		}
	}()
	return s
}

// process is a running process and those that it starts: they share a group.
type process struct {
	cmd  *exec.Cmd
	done chan struct{} // closed once it has ended
	code int           // valid then: its exit code, or 128 + the signal that ended it

	unbent error // why it doesn't live by the cluster's clock, if there is one and it doesn't
}

var errEnding = errors.New("the node is being closed")

// start runs the command in a group of its own. The command's output must go
// to files, so that nothing has to be copied.
func (s *starter) start(cmd *exec.Cmd) (*process, error) {
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
		p.unbent, err = s.clock.Start(cmd)
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
	// Where there is no namespace of process ids to end with it, its children do here.
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

// stop asks the process to end, and kills it when it has not after grace. It
// returns when it has ended.
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

// killAll ends every process now, and lets none start after it.
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
