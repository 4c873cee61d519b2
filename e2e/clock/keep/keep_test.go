//go:build linux && (amd64 || arm64)

package keep

import (
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"github.com/plumbline-e2e/plumbline/e2e/clock/page"
)

func TestPace(t *testing.T) {
	for what, c := range map[string]struct {
		idle float64
		lag  time.Duration
		want float64
	}{
		"an idle machine":             {0.9, 0, 11},
		"a machine that is busy":      {0.05, 0, 8.5},
		"one that is just right":      {0.2, 0, 10},
		"lag, however idle it is":     {0.9, time.Second, 5},
		"a lag that can be tolerated": {0.2, Tolerable, 10},
	} {
		NewWithT(t).Expect(pace(10, c.idle, c.lag)).To(BeNumerically("~", c.want), what)
	}
}

func TestTheGovernorSeesTheMachine(t *testing.T) {
	g := NewWithT(t)
	idle, total := newGovernor().ticks()
	g.Expect(idle).To(BeNumerically(">", 0))
	g.Expect(total).To(BeNumerically(">", idle))
}

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
	g.Expect(asks(60, false)).To(BeNumerically("<=", 3), "it begins slowly")
	g.Expect(asks(1, true)).To(BeEquivalentTo(1))
	before := p.Now()
	p.Jump(5 * time.Minute)
	g.Eventually(p.Ahead, "10s", "1ms").Should(BeZero())
	g.Expect(p.Now() - before).To(BeNumerically(">=", 5*time.Minute))
	close(stop)
	g.Eventually(stopped, "10s").Should(BeClosed())
}
