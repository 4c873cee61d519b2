//go:build linux && (amd64 || arm64)

package clock_test

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"github.com/plumbline-e2e/plumbline/e2e/build"
	"github.com/plumbline-e2e/plumbline/e2e/clock"
)

// bent returns this process's clock. A process can have only one.
var bent = sync.OnceValues(func() (*clock.Clock, error) { //nolint:gochecknoglobals // see above
	programs, err := build.Open(nil)
	if err != nil {
		return nil, err
	}
	shim, err := clock.Shim(context.Background(), programs)
	if err != nil {
		return nil, err
	}
	if err := clock.SelfTest(context.Background(), shim); err != nil {
		return nil, err
	}
	return clock.New(context.Background(), shim)
})

// governed returns the clock, and sets its speed until the test ends.
func governed(t *testing.T, speed float64, fixed bool) *clock.Clock {
	t.Helper()
	c, err := bent()
	if err != nil {
		t.Fatal(err)
	}
	c.Govern(speed, fixed)
	t.Cleanup(func() { c.Govern(1, true) })
	return c
}

func TestWaitsEndByTheClock(t *testing.T) {
	g := NewWithT(t)
	for _, speed := range []float64{1, 10, 60} {
		c := governed(t, speed, true)
		wait := time.Duration(speed) * 200 * time.Millisecond
		real, began := c.Real(), time.Now()
		time.Sleep(wait)
		took, really := time.Since(began), c.Real()-real
		g.Expect(took).To(BeNumerically(">=", wait))
		if speed > 1 { // half the wait is the margin for a busy machine
			g.Expect(really).To(BeNumerically("<", wait/2), "at speed %v", speed)
		}
	}
}

func TestAJumpTakesNoTimeWhileAllWait(t *testing.T) {
	g := NewWithT(t)
	c := governed(t, 2, true)
	over := time.After(150 * time.Second) // `go test` times out after ten minutes on this clock
	c.Lag()
	real, began := c.Real(), time.Now()
	g.Expect(c.Jump(t.Context(), 3*time.Minute, time.Minute)).To(Succeed())
	g.Eventually(over).Should(Receive())
	g.Expect(time.Since(began)).To(BeNumerically("~", 3*time.Minute, time.Minute))
	g.Expect(c.Real() - real).To(BeNumerically("<", time.Minute))
	g.Expect(c.Lag().Late).To(BeNumerically("<", time.Minute), "nobody was late")
}

// All threads read the time while its speed changes again and again. None may see a time
// before one that another has seen.
func TestTimeNeverGoesBack(t *testing.T) {
	g := NewWithT(t)
	c := governed(t, 1, true)
	stop := make(chan struct{})
	var all sync.WaitGroup
	var latest, back atomic.Int64
	origin := time.Now()
	for range 2 * runtime.NumCPU() {
		all.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
				}
				seen := latest.Load()
				now := int64(time.Since(origin))
				if now < seen {
					back.Add(1)
				}
				latest.CompareAndSwap(seen, now)
			}
		})
	}
	changes := 0
	for end := c.Real() + time.Second; c.Real() < end; changes++ {
		c.Govern(float64(1+changes%60), true)
		runtime.Gosched()
	}
	close(stop)
	all.Wait()
	g.Expect(changes).To(BeNumerically(">", 10))
	g.Expect(back.Load()).To(BeZero())
}

func TestGovernedClockRunsFastWhileAllWait(t *testing.T) {
	g := NewWithT(t)
	c := governed(t, 60, false)
	real := c.Real()
	time.Sleep(time.Minute)
	g.Expect(c.Real() - real).To(BeNumerically("<", time.Minute))
	release := c.Hold()
	g.Expect(c.Speed()).To(BeEquivalentTo(1))
	release()
}

func TestProgramsLiveByTheClock(t *testing.T) {
	g := NewWithT(t)
	c := governed(t, 20, true)
	for name, start := range map[string]func(*exec.Cmd) (unbent, err error){
		"started": func(cmd *exec.Cmd) (unbent, err error) {
			runtime.LockOSThread()
			defer runtime.UnlockOSThread()
			return c.Start(cmd, 0)
		},
		"launched": func(cmd *exec.Cmd) (unbent, err error) {
			line := c.Command(cmd.Args[0], cmd.Path)
			cmd.Path, cmd.Args = line[0], append(line, cmd.Args[1:]...)
			return nil, cmd.Start()
		},
	} {
		cmd := exec.Command(os.Args[0], "-test.run=^TestSleeper$")
		cmd.Env = append(os.Environ(), "SLEEPER=1")
		real := c.Real()
		unbent, err := start(cmd)
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(unbent).NotTo(HaveOccurred())
		err = cmd.Wait()
		g.Expect(c.Real()-real).To(BeNumerically("<", 5*time.Second), name)
		g.Expect(cmd.ProcessState.ExitCode()).To(Equal(7), "its exit code is its own: %v", err)
	}
}

// TestSleeper is the program that other tests start.
func TestSleeper(t *testing.T) {
	if os.Getenv("SLEEPER") == "" {
		t.Skip("it is run by TestProgramsLiveByTheClock")
	}
	time.Sleep(20 * time.Second)
	os.Exit(7)
}

func TestAProgramsWallClockCanBeAhead(t *testing.T) {
	g := NewWithT(t)
	c := governed(t, 1, true)
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	for _, ahead := range []time.Duration{0, time.Hour, -time.Minute} {
		cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestTeller$")
		cmd.Env = append(os.Environ(), "TELLER=1")
		var out bytes.Buffer
		cmd.Stdout = &out
		unbent, err := c.Start(cmd, ahead)
		g.Expect(errors.Join(unbent, err)).To(Succeed())
		g.Expect(cmd.Wait()).To(Succeed())
		said, slept, _ := strings.Cut(out.String(), " ")
		told, err := time.Parse(time.RFC3339Nano, said)
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(time.Until(told)).To(BeNumerically("~", ahead, 5*time.Second))
		took, err := time.ParseDuration(slept)
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(took).To(BeNumerically("~", 100*time.Millisecond, 2*time.Second), "monotonic time is the cluster's")
	}
}

// TestTeller is the program that tells the time, and how long it has slept.
func TestTeller(t *testing.T) {
	if os.Getenv("TELLER") == "" {
		t.Skip("it is run by TestAProgramsWallClockCanBeAhead")
	}
	began := time.Now()
	time.Sleep(100 * time.Millisecond)
	_, _ = os.Stdout.WriteString(began.Format(time.RFC3339Nano) + " " + time.Since(began).String())
	os.Exit(0)
}

func TestProgramsThatAreNotGosAreUnbent(t *testing.T) {
	g := NewWithT(t)
	c := governed(t, 1, true)
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	cmd := exec.CommandContext(t.Context(), "/bin/true")
	unbent, err := c.Start(cmd, 0)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(unbent).To(MatchError(ContainSubstring("/bin/true: its clock can't be bent: it is no Go program")))
	g.Expect(cmd.Wait()).To(Succeed(), "it runs all the same")
	line := append(c.Command("x", "/bin/echo"), "hello")
	out, err := exec.CommandContext(t.Context(), line[0], line[1:]...).CombinedOutput()
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(string(out)).To(And(ContainSubstring("it is no Go program"), HaveSuffix("hello\n")))
}

func BenchmarkNow(b *testing.B) {
	for range b.N {
		_ = time.Now()
	}
}
