package session

import (
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"github.com/plumbline-e2e/plumbline/e2e/clock"
	"github.com/plumbline-e2e/plumbline/e2e/report"
)

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
