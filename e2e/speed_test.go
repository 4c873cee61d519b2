package e2e

import (
	"runtime"
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"github.com/plumbline-e2e/plumbline/e2e/clock"
	"github.com/plumbline-e2e/plumbline/e2e/cluster"
	"github.com/plumbline-e2e/plumbline/e2e/report"
)

func TestSpeed(t *testing.T) {
	for _, c := range []struct {
		value string
		bends bool
		want  Speed
		err   string
	}{
		{"1", true, Speed{Limit: 1}, ""},
		{"1", false, Speed{Limit: 1}, ""},
		{"", true, Speed{Limit: fastest, Auto: true}, ""},
		{"auto", true, Speed{Limit: fastest, Auto: true}, ""},
		{"", false, Speed{Limit: 1}, ""},
		{"auto", false, Speed{}, "SPEED=auto: clocks of stiff clusters on"},
		{"30", false, Speed{}, "SPEED=30: clocks of stiff clusters on"},
		{"0.5", true, Speed{}, "SPEED=0.5: neither auto nor a number from 1 to 1000"},
		{"NaN", true, Speed{}, "SPEED=NaN: neither auto nor"},
	} {
		g := NewWithT(t)
		t.Setenv("SPEED", c.value)
		got, err := speed("SPEED", cluster.Backend{Name: "stiff", Bends: c.bends})
		if c.err != "" {
			g.Expect(err).To(MatchError(ContainSubstring(c.err)))
			continue
		}
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(got).To(Equal(c.want))
	}
	g := NewWithT(t)
	g.Expect(Speed{Limit: 60, Auto: true}.String()).To(Equal("auto"))
	g.Expect(Speed{Limit: 1.5}.String()).To(Equal("1.5"))
}

func TestLagBeyondTheBoundIsInfra(t *testing.T) {
	for _, c := range []struct {
		lag    time.Duration
		before report.Verdict
		want   report.Verdict
	}{
		{clock.MaxLag, report.Passed, report.Passed},
		{clock.MaxLag + 1, report.Passed, report.Infra},
		{clock.MaxLag, report.Failed, report.Failed},
		{clock.MaxLag + 1, report.Failed, report.Infra},
		{clock.MaxLag + 1, report.Skipped, report.Skipped},
	} {
		g := NewWithT(t)
		o := report.Outcome{Verdict: c.before, Reason: "it broke"}
		judgeLag(&o, clock.Lag{Late: c.lag, Process: "etcd"})
		g.Expect(o.Verdict).To(Equal(c.want))
		g.Expect(o.Lag).To(Equal(c.lag))
		if c.want == report.Infra {
			g.Expect(o.Reason).To(ContainSubstring("the clock ran too fast: etcd was 2s late"))
		}
		if c.want == report.Infra && c.before == report.Failed {
			g.Expect(o.Detail).To(Equal("failed: it broke"))
		}
	}
}

func TestWorkersFitTheMachine(t *testing.T) {
	g := NewWithT(t)
	bent, unbent := Speed{Limit: fastest, Auto: true}, Speed{Limit: 1}
	g.Expect(bent.procs(2, 0)).To(Equal(3), "one more than there are CPUs")
	g.Expect(unbent.procs(2, 0)).To(Equal(6), "they wait most of the time")
	g.Expect(unbent.procs(64, 0)).To(Equal(8))
	g.Expect(unbent.procs(4, 7<<30)).To(Equal(7), "a GiB each")
	g.Expect(unbent.procs(4, 100<<20)).To(Equal(1))
	if runtime.GOOS == "linux" {
		g.Expect(availableMemory()).To(BeNumerically(">", 16<<20))
	}
}
