//go:build linux && (amd64 || arm64)

package keep

import (
	"os"
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"github.com/plumbline-e2e/plumbline/e2e/clock/page"
)

func TestTheKeeperDoesAsItIsAsked(t *testing.T) {
	g := NewWithT(t)
	p, err := page.New()
	g.Expect(err).NotTo(HaveOccurred())
	stop, stopped := make(chan struct{}), make(chan struct{})
	go func() { defer close(stopped); Keep(p, stop) }()
	asks := func(limit float64, fixed bool) float64 {
		number := p.Ask(limit, fixed)
		g.Eventually(func() bool { return p.Answered(number) }, "10s", "1ms").Should(BeTrue())
		return p.Speed()
	}
	g.Expect(asks(17, true)).To(BeEquivalentTo(17))
	before := p.Now()
	g.Expect(asks(60, false)).To(BeEquivalentTo(1), "it is moved, and runs no faster")
	began := page.Monotonic()
	g.Eventually(p.Now, "10s", "1ms").Should(BeNumerically(">", before+int64(10*time.Second)), "since nobody works")
	g.Expect(page.Monotonic() - began).To(BeNumerically("<", 10*time.Second))
	g.Expect(asks(1, true)).To(BeEquivalentTo(1))
	p.Jump(5*time.Minute, time.Minute)
	page.Sleep(50 * time.Millisecond)
	left, _ := p.Ahead()
	g.Expect(left).To(BeNumerically(">", 4*time.Minute), "it is held")
	g.Expect(asks(30, true)).To(BeEquivalentTo(30))
	before = p.Now()
	p.Jump(5*time.Minute, time.Minute)
	ahead := func() time.Duration { left, _ := p.Ahead(); return left }
	g.Eventually(ahead, "10s", "1ms").Should(BeZero())
	g.Expect(p.Now()-before).To(BeNumerically("~", 5*time.Minute, rest), "the rests before its five steps are part of it")

	asks(60, false)
	p.Except(os.Getpid())
	p.Jump(time.Hour, time.Minute)
	g.Eventually(ahead, "10s", "1ms").Should(BeZero(), "one that lives by the machine's clock would be left behind")
	before, real := p.Now(), page.Monotonic()
	page.Sleep(100 * time.Millisecond)
	g.Expect(p.Now() - before).To(BeNumerically("~", page.Monotonic()-real, 50*time.Millisecond))
	close(stop)
	g.Eventually(stopped, "10s").Should(BeClosed())
}
