//go:build amd64 || arm64

package clock

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"sync"
	"time"

	"github.com/plumbline-e2e/plumbline/e2e/clock/inject"
	"github.com/plumbline-e2e/plumbline/e2e/clock/page"
)

// Supported says whether clocks can be bent on this system.
const Supported = true

// Clock is the clock of this process and of the clusters that it starts.
type Clock struct {
	page *page.Page
	bend string    // the program that starts others by this clock
	keep io.Closer // the keeper's standard input: were nobody to hold it, it would be closed, and the keeper end

	mu     sync.Mutex
	held   int     // how many want speed 1
	wanted float64 // the speed up to which it may get ahead
	fixed  bool    // or that it is to keep
	broken error   // why it runs at speed 1 from now on
	gone   bool    // the keeper is, so that nobody answers
}

// New makes a clock, by which this process lives from now on, at speed 1. A
// process can only have one; bend is the program of that name.
func New(ctx context.Context, bend string) (*Clock, error) {
	p, err := page.New()
	if err != nil {
		return nil, err
	}
	c := &Clock{page: p, bend: bend, wanted: 1, fixed: true}
	if err := c.start(ctx); err != nil {
		return nil, errors.Join(fmt.Errorf("bending this process's clock: %w", err), p.Close())
	}
	return c, nil
}

// start starts the keeper, which also bends this process's clock: no process can
// stop all threads of its own. It ends when its standard input does, which is
// with this process at the latest.
func (c *Clock) start(ctx context.Context) error {
	cmd := exec.CommandContext(context.WithoutCancel(ctx), c.bend,
		"keep", c.page.Path(), strconv.Itoa(os.Getpid()), strconv.Itoa(int(c.page.File().Fd())))
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
	inject.Allow(cmd.Process.Pid)
	_, err = in.Write([]byte{1})
	if err == nil {
		_, err = bufio.NewReader(out).ReadString('\n')
	}
	if err != nil {
		return fmt.Errorf("%w: %s", errors.Join(err, in.Close(), cmd.Wait()), bytes.TrimSpace(complaints.Bytes()))
	}
	c.keep = in
	go func() {
		err := cmd.Wait()
		c.mu.Lock()
		defer c.mu.Unlock()
		c.gone = true
		c.broken = errors.Join(c.broken, fmt.Errorf("the keeper of the clock ended: %w", err))
		c.page.Own() // nobody ends waits any more, so none may end before the machine's clock says so
		c.page.Set(1, 0)
	}()
	return nil
}

// Start starts a command that lives by this clock. If that can't be, the reason
// is unbent, and it lives by the machine's. The caller has locked its goroutine
// to its thread.
func (c *Clock) Start(cmd *exec.Cmd) (unbent, err error) { return inject.Start(cmd, c.page) }

// Command is the command line that runs a program by this clock, under a name;
// its arguments follow.
func (c *Clock) Command(name, program string) []string {
	return []string{c.bend, "run", c.page.Path(), name, program}
}

// Real is the machine's monotonic time, of which only differences mean anything.
func (c *Clock) Real() time.Duration { return time.Duration(page.Monotonic()) }

// Wall is the machine's wall clock, also in a process that lives by another clock.
func Wall() time.Time { return time.Unix(0, page.Realtime()) }

// Speed is how fast the clock runs now.
func (c *Clock) Speed() float64 { return c.page.Speed() }

// Govern lets the clock get ahead of the machine's while all wait, up to a speed on
// average; if fixed, it runs at just that speed, whatever is being done.
func (c *Clock) Govern(speed float64, fixed bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.wanted, c.fixed = speed, fixed
	c.ask()
}

// Hold makes the clock run at speed 1 until the function that it returns is called.
func (c *Clock) Hold() (release func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.held++
	c.ask()
	return sync.OnceFunc(func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.held--
		c.ask()
	})
}

// Break makes the clock run at speed 1 for good, for a reason.
func (c *Clock) Break(why error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.broken = errors.Join(c.broken, why)
	c.ask()
}

// Err is why the clock runs at speed 1 for good, if it does.
func (c *Clock) Err() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if pid := c.page.Excepted(); pid != 0 {
		return errors.Join(c.broken, fmt.Errorf("%s (process %d) can't live by the cluster's clock; its log says why", name(pid), pid))
	}
	return c.broken
}

// ask has the keeper do what is wanted now, and waits until it's done, which
// takes some milliseconds. The caller holds the lock.
func (c *Clock) ask() {
	speed, fixed := c.wanted, c.fixed
	if c.held > 0 || c.broken != nil {
		speed, fixed = 1, true
	}
	number := c.page.Ask(speed, fixed)
	for !c.gone && !c.page.Answered(number) {
		c.mu.Unlock()
		page.Sleep(time.Millisecond)
		c.mu.Lock()
	}
}

// Lag is the worst lag since it was asked for last.
func (c *Clock) Lag() Lag {
	late, pid := c.page.Lag()
	return Lag{Late: late, Process: name(pid)}
}

// Jump moves the clock ahead by a duration, for what no speed reaches: in steps,
// each of which begins when all processes wait. A step is no longer than a stride,
// since what is renewed all the time must not be over before it can be. What passes
// between them counts. It doesn't jump while it's held. It returns when the duration is
// over, or ctx ends.
func (c *Clock) Jump(ctx context.Context, d, stride time.Duration) error {
	c.page.Jump(d, stride)
	for {
		left, _ := c.page.Ahead()
		err := c.Err()
		if left <= 0 || err != nil {
			return err
		}
		select {
		case <-time.After(min(left, time.Second)): // by this very clock
		case <-ctx.Done():
			c.page.Stay()
			return context.Cause(ctx)
		}
	}
}

// SelfTest tries what bent clusters rely on, which takes a second or two of
// real time: the error says what doesn't work here.
func SelfTest(ctx context.Context, bend string) error {
	out, err := exec.CommandContext(ctx, bend, "selftest").CombinedOutput()
	if err != nil && ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if err != nil {
		return fmt.Errorf("clocks can't be bent here: %s (%w)", bytes.TrimSpace(out), err)
	}
	return nil
}

// name is what people call a process.
func name(pid int) string {
	exe, err := os.Readlink(fmt.Sprintf("/proc/%d/exe", pid))
	if err != nil {
		return fmt.Sprintf("process %d", pid)
	}
	return filepath.Base(exe)
}
