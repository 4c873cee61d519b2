//go:build linux && (amd64 || arm64)

package governor

import (
	"os"
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"github.com/plumbline-e2e/plumbline/e2e/clock/shm"
)

// newPage returns a page whose clock is governed until the test ends.
func newPage(t *testing.T, rest time.Duration) *shm.Page {
	t.Helper()
	p, err := shm.New()
	if err != nil {
		t.Fatal(err)
	}
	g := newGovernor(p)
	g.rest = rest
	stop, stopped := make(chan struct{}), make(chan struct{})
	go func() { defer close(stopped); g.run(stop) }()
	t.Cleanup(func() { close(stop); <-stopped })
	return p
}

func TestTheGovernorObeys(t *testing.T) {
	g := NewWithT(t)
	p := newPage(t, rest)
	p.Request(17, true)
	g.Expect(p.Speed()).To(BeEquivalentTo(17))
	before := p.Now()
	p.Request(60, false)
	g.Expect(p.Speed()).To(BeEquivalentTo(1), "the clock is moved, and runs no faster")
	began := shm.Monotonic()
	g.Eventually(p.Now, "10s", "1ms").Should(BeNumerically(">", before+int64(10*time.Second)), "since nobody works")
	g.Expect(shm.Monotonic() - began).To(BeNumerically("<", 10*time.Second))
	p.Request(1, true)
	g.Expect(p.Speed()).To(BeEquivalentTo(1))
	p.Jump(5*time.Minute, time.Minute)
	shm.Sleep(50 * time.Millisecond)
	left, _ := p.JumpLeft()
	g.Expect(left).To(BeNumerically(">", 4*time.Minute), "the clock is held at speed 1")
	p.Request(30, true)
	g.Expect(p.Speed()).To(BeEquivalentTo(30))
	before = p.Now()
	p.Jump(5*time.Minute, time.Minute)
	jumpLeft := func() time.Duration { left, _ := p.JumpLeft(); return left }
	g.Eventually(jumpLeft, "10s", "1ms").Should(BeZero())
	g.Expect(p.Now()-before).To(BeNumerically("~", 5*time.Minute, rest), "the rests before its five steps are part of it")

	p.Request(60, false)
	p.SetUnbent(os.Getpid())
	p.Jump(time.Hour, time.Minute)
	g.Eventually(jumpLeft, "10s", "1ms").Should(BeZero(), "one that lives by the machine's clock would be left behind")
	before, real := p.Now(), shm.Monotonic()
	shm.Sleep(100 * time.Millisecond)
	g.Expect(p.Now() - before).To(BeNumerically("~", shm.Monotonic()-real, 50*time.Millisecond))
}
