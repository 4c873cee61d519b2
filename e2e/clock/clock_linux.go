//go:build amd64 || arm64

package clock

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"github.com/plumbline-e2e/plumbline/e2e/clock/inject"
	"github.com/plumbline-e2e/plumbline/e2e/clock/page"
	"github.com/plumbline-e2e/plumbline/e2e/clock/waits"
)

// Clock is the clock of this process and of the clusters that it starts.
type Clock struct {
	page *page.Page
	bend string // the program that starts others by this clock

	mu     sync.Mutex
	held   int           // how many want speed 1
	wanted float64       // the speed to govern up to
	fixed  bool          // or to keep
	lag    Lag           // the worst since it was asked for last
	broken error         // why it runs at speed 1 from now on
	ahead  time.Duration // how far it is to jump yet
	jumped chan struct{} // closed when it has

	stop  chan struct{}
	ended chan struct{}
}

// New makes a clock, by which this process lives from now on, at speed 1. A
// process can only have one; bend is the program of that name.
func New(ctx context.Context, bend string) (*Clock, error) {
	p, err := page.New()
	if err != nil {
		return nil, err
	}
	c := &Clock{page: p, bend: bend, wanted: 1, fixed: true, stop: make(chan struct{}), ended: make(chan struct{})}
	if err := c.bendSelf(ctx); err != nil {
		return nil, errors.Join(err, p.Close())
	}
	go c.run()
	return c, nil
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

// bendSelf has another process do it: none can stop all threads of its own.
func (c *Clock) bendSelf(ctx context.Context) error {
	cmd := exec.CommandContext(ctx, c.bend, "attach", c.page.Path(), strconv.Itoa(os.Getpid()), strconv.Itoa(int(c.page.File().Fd())))
	when, err := cmd.StdinPipe()
	if err != nil {
		return err
	}
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Start(); err != nil {
		return err
	}
	_ = unix.Prctl(unix.PR_SET_PTRACER, uintptr(cmd.Process.Pid), 0, 0, 0) // an error where there is no Yama to ask
	_, err = when.Write([]byte{1})
	if err = errors.Join(err, cmd.Wait()); err != nil {
		return fmt.Errorf("bending this process's clock: %w: %s", err, out.String())
	}
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

// Speed is how fast the clock runs now.
func (c *Clock) Speed() float64 { return c.page.Speed() }

// Govern lets the clock run up to a speed, as fast as the machine allows; if
// fixed, at just that speed.
func (c *Clock) Govern(speed float64, fixed bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.wanted, c.fixed = speed, fixed
	c.set(1)
}

// Hold makes the clock run at speed 1 until the function that it returns is called.
func (c *Clock) Hold() (release func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.held++
	c.set(1)
	return sync.OnceFunc(func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.held--
		c.set(1)
	})
}

// Break makes the clock run at speed 1 for good, for a reason.
func (c *Clock) Break(why error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.broken = errors.Join(c.broken, why)
	c.set(1)
}

// Err is why the clock runs at speed 1 for good, if it does.
func (c *Clock) Err() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.broken
}

// Lag is the worst lag since it was asked for last.
func (c *Clock) Lag() Lag {
	c.mu.Lock()
	defer c.mu.Unlock()
	lag := c.lag
	c.lag = Lag{}
	return lag
}

// Jump moves the clock ahead by a duration, for what no speed reaches: in steps,
// each of which begins when all processes wait. It returns when the last step is
// done, or ctx ends.
func (c *Clock) Jump(ctx context.Context, d time.Duration) error {
	c.mu.Lock()
	if c.jumped != nil {
		c.mu.Unlock()
		return errors.New("the clock is jumping already")
	}
	jumped := make(chan struct{})
	c.ahead, c.jumped = d, jumped
	c.mu.Unlock()
	select {
	case <-jumped:
		return nil
	case <-ctx.Done():
		c.mu.Lock()
		defer c.mu.Unlock()
		c.ahead, c.jumped = 0, nil
		return context.Cause(ctx)
	}
}

// hop does a step of a jump, if there is one to do.
func (c *Clock) hop() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.jumped == nil {
		return false
	}
	if c.ahead <= 0 {
		close(c.jumped)
		c.jumped = nil
		return false
	}
	d := min(c.ahead, stride)
	c.ahead -= d
	c.page.Set(c.page.Speed(), d)
	return true
}

// set sets the speed, or the one that is allowed. The caller holds the lock.
func (c *Clock) set(speed float64) {
	switch {
	case c.held > 0 || c.broken != nil:
		speed = 1
	case c.fixed:
		speed = c.wanted
	default:
		speed = min(max(speed, 1), c.wanted)
	}
	if speed != c.page.Speed() {
		c.page.Set(speed, 0)
	}
}

// Close lets the clock run at speed 1, and stops looking after it. This process
// goes on living by it.
func (c *Clock) Close() {
	c.Hold()
	close(c.stop)
	<-c.ended
}

// How often is looked at what: real time.
const (
	grain  = 50 * time.Millisecond // of the cluster's time: how late a wait may be ended
	often  = time.Millisecond
	seldom = 20 * time.Millisecond
	beat   = 50 * time.Millisecond // for the governor
)

// run ends waits, and governs the speed. It lives on real time, in a thread of its own.
func (c *Clock) run() {
	runtime.LockOSThread()
	defer close(c.ended)
	watch := waits.New(c.page)
	defer watch.Close()
	g := newGovernor()
	last := page.Monotonic()
	for {
		select {
		case <-c.stop:
			return
		default:
		}
		lags, next := watch.Look()
		if watch.Quiet() && c.hop() {
			watch.Jumped()
			continue
		}
		speed := c.page.Speed()
		interval := min(max(time.Duration(float64(grain)/speed), often), seldom)
		if left := time.Duration(float64(next-c.page.Now()) / speed); left < interval {
			interval = max(left, often/4)
		}
		began := page.Monotonic()
		page.Sleep(interval)
		now := page.Monotonic()
		over := time.Duration(float64(now-began-int64(interval)) * speed)
		lags = append(lags, waits.Lag{Late: over, PID: os.Getpid()})
		for _, l := range lags {
			g.lag = max(g.lag, l.Late)
			c.note(l)
		}
		if now-last >= int64(beat) {
			last = now
			c.mu.Lock()
			c.set(g.next(speed))
			c.mu.Unlock()
		}
	}
}

// note remembers a lag if it is the worst.
func (c *Clock) note(l waits.Lag) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if l.Late <= c.lag.Late {
		return
	}
	c.lag = Lag{Late: l.Late, Process: name(l.PID)}
}

// name is what people call a process.
func name(pid int) string {
	exe, err := os.Readlink(fmt.Sprintf("/proc/%d/exe", pid))
	if err != nil {
		return fmt.Sprintf("process %d", pid)
	}
	return filepath.Base(exe)
}
