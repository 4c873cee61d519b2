package session

import (
	"context"
	"errors"
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"github.com/plumbline-e2e/plumbline/e2e/env"
	"github.com/plumbline-e2e/plumbline/e2e/history/historytest"
	"github.com/plumbline-e2e/plumbline/e2e/invariant"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
	"github.com/plumbline-e2e/plumbline/e2e/report"
)

const stages = "NodeClaims are launched, registered and initialized in that order, and stay so"

func TestABrokenInvariantFailsTheSpec(t *testing.T) {
	claim := historytest.NodeClaim("c").Set("kwok://c", "status", "providerID").True(karpenter.Launched)
	backwards := historytest.Begin().Add(claim).After(time.Second).Change(claim.False(karpenter.Launched)).History()
	for name, c := range map[string]struct {
		before *env.Failure
		breaks map[string]string
		want   report.Verdict
	}{
		"of a spec that passed":       {nil, nil, report.Failed},
		"of a vacuous one":            {&env.Failure{Verdict: report.Vacuous, Reason: "never tested"}, nil, report.Failed},
		"but not of an infra one":     {&env.Failure{Verdict: report.Infra, Reason: "etcd died"}, nil, report.Infra},
		"nor if it breaks on purpose": {nil, map[string]string{stages: "it edits the status"}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			checks := &postChecks{work: &Work{Breaks: c.breaks}, outcome: &report.Outcome{}}
			failure := checks.judge(c.before, backwards, invariant.Params{})
			g.Expect(checks.outcome.Invariants).To(HaveLen(len(invariant.All())))
			g.Expect(checks.outcome.Invariants).
				To(ContainElement(And(HaveField("Check", stages), HaveField("Verdict", "broken"),
					HaveField("Tested", BeNumerically(">", 0)))))
			if c.want == "" {
				g.Expect(failure).To(BeNil())
				return
			}
			g.Expect(failure.Verdict).To(Equal(c.want))
			g.Expect(failure.Broke).To(HaveLen(1))
			g.Expect(failure.Broke[0]).To(And(HaveField("Kind", report.BrokenInvariant), HaveField("What", stages),
				HaveField("Event", Not(BeNil()))))
			g.Expect(failure.Reason + "\n" + failure.Detail).To(ContainSubstring("an invariant is broken: " + stages))
			if c.before != nil {
				g.Expect(failure.Reason + "\n" + failure.Detail).To(ContainSubstring(c.before.Reason))
			}
		})
	}
}

func TestWhatIsLeftBehindIsToldOneByOne(t *testing.T) {
	g := NewWithT(t)
	g.Expect(leftBehind(nil, nil)).To(BeNil())
	before := env.Broken(report.BrokenWait, "waited for 1 node", "waited 2m0s for 1 node", time.Now())
	failure := leftBehind(before, []string{"Node a: ready", "NodeClaim b"})
	g.Expect(failure.Broke).To(Equal([]report.Broken{
		{Kind: report.BrokenWait, What: "waited for 1 node"},
		{Kind: report.BrokenCleanUp, What: "left behind: Node a: ready"},
		{Kind: report.BrokenCleanUp, What: "left behind: NodeClaim b"},
	}))
	g.Expect(failure.Reason).To(Equal("waited 2m0s for 1 node"))
	g.Expect(failure.Detail).To(MatchRegexp(`(?s)left behind:.*Node a: ready.*NodeClaim b`))
}

func TestTheHeadlineIsWhatWentWrongFirst(t *testing.T) {
	claim := historytest.NodeClaim("c").Set("kwok://c", "status", "providerID").True(karpenter.Launched)
	backwards := historytest.Begin().Add(claim).After(time.Minute).Change(claim.False(karpenter.Launched)).History()
	broke := backwards.End().Time()
	const patching, breach = "patching pods/w: not found", "an invariant is broken: " + stages
	for name, c := range map[string]struct {
		failed         time.Time
		reason, detail string
	}{
		"the invariant": {broke.Add(time.Second), breach, patching},
		"the error":     {broke.Add(-time.Second), patching, breach},
		"both":          {broke, patching, breach},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			checks := &postChecks{work: &Work{}, outcome: &report.Outcome{}}
			failure := checks.judge(&env.Failure{Verdict: report.Failed, Reason: patching, At: c.failed}, backwards,
				invariant.Params{})
			g.Expect(failure.Verdict).To(Equal(report.Failed))
			g.Expect(failure.Reason).To(Equal(c.reason))
			g.Expect(failure.Detail).To(ContainSubstring(c.detail))
		})
	}
}

func TestErrorsInTheLogAreSorted(t *testing.T) {
	NewWithT(t).Expect(errorsIn([]string{
		`{"level":"ERROR","controller":"provisioner","message":"no luck","pod":"a"}`,
		"panic: runtime error",
		`{"level":"ERROR","controller":"provisioner","message":"no luck","pod":"b"}`,
	})).To(Equal([]report.LogError{
		{
			Message: "provisioner: no luck", Times: 2,
			Line: `{"level":"ERROR","controller":"provisioner","message":"no luck","pod":"a"}`,
		},
		{Message: "panic: runtime error", Times: 1, Line: "panic: runtime error"},
	}))
}

func TestTheControllersPictureMustBeComplete(t *testing.T) {
	out := errors.New("out of reach")
	for name, c := range map[string]struct {
		says  []float64 // the metric's values in turn, the last one forever; negative: out of reach
		fails bool
	}{
		"it is":                     {[]float64{1}, false},
		"it comes to be":            {[]float64{0, 1}, false},
		"it never is":               {[]float64{0}, true},
		"nobody is asked":           {[]float64{-1}, false},
		"it can't be asked anymore": {[]float64{0, -1}, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			asked := 0
			err := synced(t.Context(), func(context.Context, string) (float64, error) {
				value := c.says[min(asked, len(c.says)-1)]
				asked++
				if value < 0 {
					return 0, out
				}
				return value, nil
			}, 3*syncedEvery)
			if c.fails {
				NewWithT(t).Expect(err).To(MatchError(ContainSubstring("was not 1 within")))
				return
			}
			NewWithT(t).Expect(err).NotTo(HaveOccurred())
		})
	}
}

func TestARecoveredPanicFailsASpec(t *testing.T) {
	g := NewWithT(t)
	g.Expect(panicked(nil, []string{`{"level":"ERROR","message":"Reconciler error"}`})).To(BeNil())
	f := panicked(nil, []string{`{"level":"ERROR","message":"Observed a panic","panic":"nil pointer dereference"}`})
	g.Expect(f.Verdict).To(Equal(report.Failed))
	g.Expect(f.Reason).To(Equal("a controller of the provider panicked, and the process went on"))
	g.Expect(f.Detail).To(ContainSubstring("nil pointer dereference"))
}
