//go:build amd64 || arm64

package clock

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"sync"
	"time"

	"github.com/plumbline-e2e/plumbline/e2e/clock/ptrace"
	"github.com/plumbline-e2e/plumbline/e2e/clock/shm"
)

// Supported reports whether clocks can be bent on this system.
const Supported = true

// Clock is the clock of this process and of the clusters that it starts.
type Clock struct {
	page     *shm.Page
	shim     string    // path of the program shim
	governor io.Closer // the governor's standard input; if the GC closed it, the governor would end

	mu     sync.Mutex
	held   int     // number of holds; with any, the speed is 1
	wanted float64 // the limit of the average speed
	fixed  bool    // wanted is the exact speed, not a limit
	broken error   // why it runs at speed 1 from now on
}

// New makes a clock, puts this process on it, and starts it at speed 1. A process can have
// only one. shim is the path of the program shim.
func New(ctx context.Context, shim string) (*Clock, error) {
	p, err := shm.New()
	if err != nil {
		return nil, err
	}
	c := &Clock{page: p, shim: shim, wanted: 1, fixed: true}
	if err := c.start(ctx); err != nil {
		return nil, errors.Join(fmt.Errorf("bending this process's clock: %w", err), p.Close())
	}
	return c, nil
}

// start starts the governor. It also bends this process's clock, because no process can stop
// all its own threads. It ends with its standard input, so at the latest with this process.
func (c *Clock) start(ctx context.Context) error {
	cmd := exec.CommandContext(context.WithoutCancel(ctx), c.shim,
		"govern", c.page.Path(), strconv.Itoa(os.Getpid()), strconv.Itoa(int(c.page.File().Fd())))
	in, err := cmd.StdinPipe()
	if err != nil {
		return err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	var complaints bytes.Buffer
	cmd.Stderr = &complaints
	if err := cmd.Start(); err != nil {
		return err
	}
	ptrace.AllowTracer(cmd.Process.Pid)
	_, err = in.Write([]byte{1})
	if err == nil {
		_, err = bufio.NewReader(out).ReadString('\n')
	}
	if err != nil {
		return fmt.Errorf("%w: %s", errors.Join(err, in.Close(), cmd.Wait()), bytes.TrimSpace(complaints.Bytes()))
	}
	c.governor = in
	go func() {
		err := cmd.Wait()
		c.page.SetWriter() // no governor ends waits now, so the clock must run like the machine's
		c.page.Set(1, 0)
		c.page.Obeyed(math.MaxUint64)
		c.Break(fmt.Errorf("the governor of the clock ended: %w", err))
	}()
	return nil
}

// Start starts a command on this clock. If that fails, unbent is the reason, and the command
// uses the machine's clock. Its wall clock, but not its monotonic one, is ahead of this one by a
// duration. The caller must have locked its goroutine to its thread.
func (c *Clock) Start(cmd *exec.Cmd, ahead time.Duration) (unbent, err error) {
	return ptrace.Start(cmd, c.page, ahead)
}

// Command returns the start of a command line that runs a program on this clock, under a name.
func (c *Clock) Command(name, program string) []string {
	return []string{c.shim, "run", c.page.Path(), name, program}
}

// Real returns the machine's monotonic time. Only differences are meaningful.
func (c *Clock) Real() time.Duration { return time.Duration(shm.Monotonic()) }

// Wall returns the machine's wall clock, even if this process's clock is bent.
func Wall() time.Time { return time.Unix(0, shm.Realtime()) }

// Speed returns how fast the clock runs now.
func (c *Clock) Speed() float64 { return c.page.Speed() }

// Govern sets the clock's speed. If fixed, the clock always runs at exactly this speed.
// Otherwise it moves ahead while all processes wait, up to this speed on average.
func (c *Clock) Govern(speed float64, fixed bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.wanted, c.fixed = speed, fixed
	c.request()
}

// Hold makes the clock run at speed 1 until release is called.
func (c *Clock) Hold() (release func()) {
	c.hold(1)
	return sync.OnceFunc(func() { c.hold(-1) })
}

func (c *Clock) hold(n int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.held += n
	c.request()
}

// Break makes the clock run at speed 1 from now on, and records the reason.
func (c *Clock) Break(why error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.broken = errors.Join(c.broken, why)
	c.request()
}

// Err returns why the clock runs at speed 1 from now on, or nil.
func (c *Clock) Err() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if pid := c.page.Unbent(); pid != 0 {
		unbent := fmt.Errorf("%s (process %d) can't use the cluster's clock; see its log", name(pid), pid)
		return errors.Join(c.broken, unbent)
	}
	return c.broken
}

// request sends the wanted speed to the governor. The caller holds the lock.
func (c *Clock) request() {
	if c.held > 0 || c.broken != nil {
		c.page.Request(1, true)
	} else {
		c.page.Request(c.wanted, c.fixed)
	}
}

// Lag returns the worst lag since the last call.
func (c *Clock) Lag() Lag {
	late, pid := c.page.TakeLag()
	return Lag{Late: late, Process: name(pid)}
}

// Jump moves the clock ahead by d, in steps of at most step. A step begins when all processes
// wait. Its limit lets processes renew what would otherwise expire. Time between steps counts.
// A held clock doesn't jump. Jump returns when d is over or ctx ends.
func (c *Clock) Jump(ctx context.Context, d, step time.Duration) error {
	c.page.Jump(d, step)
	for {
		left, _ := c.page.JumpLeft()
		err := c.Err()
		if left <= 0 || err != nil {
			return err
		}
		select {
		case <-time.After(min(left, time.Second)): // on this clock
		case <-ctx.Done():
			c.page.CancelJump()
			return context.Cause(ctx)
		}
	}
}

// SelfTest tests what clusters with a bent clock need, in a second or two of real time. Its
// error says what doesn't work on this machine.
func SelfTest(ctx context.Context, shim string) error {
	out, err := exec.CommandContext(ctx, shim, "selftest").CombinedOutput()
	if err != nil && ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if err != nil {
		return fmt.Errorf("clocks can't be bent here: %s (%w)", bytes.TrimSpace(out), err)
	}
	return nil
}

// name returns the name of a process's executable, or its ID if that is unreadable.
func name(pid int) string {
	exe, err := os.Readlink(fmt.Sprintf("/proc/%d/exe", pid))
	if err != nil {
		return fmt.Sprintf("process %d", pid)
	}
	return filepath.Base(exe)
}
