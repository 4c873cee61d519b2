package main

import (
	"os"
	"path/filepath"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/faults"
	"github.com/plumbline-e2e/plumbline/e2e/history/historytest"
	"github.com/plumbline-e2e/plumbline/e2e/invariant"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
	"github.com/plumbline-e2e/plumbline/e2e/report"
)

// conformanceTest makes a file in place of the compiled test, which these tests don't run.
func conformanceTest(t *testing.T) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "conformance.test")
	NewWithT(t).Expect(os.WriteFile(file, nil, 0o600)).To(Succeed())
	return file
}

func TestScenariosAreSpecs(t *testing.T) {
	g := NewWithT(t)
	c, err := readFaults(conformanceTest(t), "crash-after")
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(c.chosen()).To(HaveLen(16), "each alternative of the pattern is one spec")
}

func TestOnePointIsFocused(t *testing.T) {
	g := NewWithT(t)
	t.Setenv("FOCUS", "^drift/one-to-one/crash-after/patch-nodes/2$")
	c, err := readFaults(conformanceTest(t), "fail")
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(c.chosen()).To(Equal([]string{"drift/one-to-one"}))
	g.Expect(c.patterns).To(Equal([]faults.Pattern{faults.PatternCrashAfter}))
	g.Expect(c.only).To(Equal("drift/one-to-one/crash-after/patch-nodes/2"))
}

func TestFaultsRefuseWhatCantBe(t *testing.T) {
	for _, v := range [][2]string{
		{"REQUEST", "sing nodes"},
		{"NTH", "none"},
		{"REPEATS", "0"},
		{"SHARD", "5/4"},
		{"FOCUS", "^no/such-spec$"},
	} {
		t.Setenv(v[0], v[1])
	}
	_, err := readFaults("none", "crash-after,melt")
	NewWithT(t).Expect(err).To(MatchError(And(
		ContainSubstring(`there is no pattern "melt", only crash-before, crash-after,`),
		ContainSubstring(`there is no verb "sing"`), ContainSubstring("NTH=none: write a number from 1"),
		ContainSubstring("REPEATS=0"), ContainSubstring("SHARD=5/4"), ContainSubstring("no spec's ID matches"),
		ContainSubstring("run `make crash`"))))
	t.Setenv("REQUEST", "")
	t.Setenv("NTH", "2")
	_, err = readFaults("none", "fail")
	NewWithT(t).Expect(err).To(MatchError(ContainSubstring("NTH=2: of which requests?")))
}

func TestEachRequestIsStruckOnceForEachPattern(t *testing.T) {
	g := NewWithT(t)
	c := faultsConfig{
		patterns: []faults.Pattern{faults.PatternCrashBefore, faults.PatternFail}, repeats: 1,
	}
	all := c.pointsOf("drift/a", "create nodes", 1, 2)
	g.Expect(all).To(Equal([]e2e.FaultPoint{
		{Spec: "drift/a", Pattern: "crash-before", Request: "create nodes", Nth: 1},
		{Spec: "drift/a", Pattern: "fail", Request: "create nodes", Nth: 1},
		{Spec: "drift/a", Pattern: "crash-before", Request: "create nodes", Nth: 2},
		{Spec: "drift/a", Pattern: "fail", Request: "create nodes", Nth: 2},
	}))
	c.repeats = 2
	repeated := c.pointsOf("drift/a", "create nodes", 2, 2)
	g.Expect(repeated).To(HaveLen(4))
	g.Expect([]int{repeated[0].Try, repeated[1].Try}).To(Equal([]int{1, 2}))
}

func TestTableOfFaults(t *testing.T) {
	g := NewWithT(t)
	c := faultsConfig{patterns: []faults.Pattern{faults.PatternCrashAfter}, repeats: 1}
	points := c.pointsOf("drift/a", "create nodes", 1, 5)
	r := faultResults{
		plan: faultsPlan{Points: points, Ends: map[string][]string{"drift/a": {"1 NodeClaims, initialized"}}},
		of: outcomesByID{
			points[0].ID(): {Verdict: report.Passed, End: []string{"1 NodeClaims, initialized"}},
			points[1].ID(): {Verdict: report.Failed, Reason: "waited | in vain\nmore"},
			points[2].ID(): {Verdict: report.Vacuous, Reason: "the fault never came about: ..."},
			points[3].ID(): {Verdict: report.Passed, End: []string{"2 NodeClaims, initialized"}},
		},
	}
	red := r.red()
	g.Expect(red).To(Equal([]e2e.FaultPoint{points[1], points[3]}))
	again := red[0]
	r.again = outcomesByID{}
	for again.Try = 1; again.Try <= tries; again.Try++ {
		r.again[again.ID()] = report.Outcome{Verdict: report.Passed, End: r.plan.Ends["drift/a"]}
	}
	again.Try = 3
	r.again[again.ID()] = report.Outcome{Verdict: report.Failed}
	g.Expect(r.table()).To(HaveSuffix(`
## drift/a

At the end: 1 NodeClaims, initialized.

| Request | Number | Pattern | Verdict | |
|---|---:|---|---|---|
| create nodes | 1 | crash-after | passed |  |
| create nodes | 2 | crash-after | failed | waited \| in vain; red 1 of 10 times more |
| create nodes | 3 | crash-after | not reached |  |
| create nodes | 4 | crash-after | another end | at the end 2 NodeClaims, initialized; without a fault 1 NodeClaims, initialized |
| create nodes | 5 | crash-after | not run |  |
`))
}

func TestWhatIsLearntWithoutFaults(t *testing.T) {
	g := NewWithT(t)
	c := faultsConfig{patterns: []faults.Pattern{faults.PatternCrashAfter}, repeats: 1}
	one := report.Outcome{
		Verdict: report.Passed, End: []string{"1 NodeClaims, initialized"}, Writes: map[string]int{"create nodes": 1},
	}
	two := one
	two.Writes = map[string]int{"create nodes": 2}
	p := faultsPlan{Ends: map[string][]string{}}
	c.learnFrom(one, two, "drift/a", &p)
	g.Expect(p.Points).To(HaveLen(2), "of the run with more of them")
	g.Expect(p.Ends).To(HaveKey("drift/a"))

	two.End = []string{"2 NodeClaims, initialized"}
	p = faultsPlan{Ends: map[string][]string{}}
	c.learnFrom(one, two, "drift/a", &p)
	g.Expect(p.Points).To(HaveLen(2))
	g.Expect(p.Ends).To(BeEmpty(), "it ends in two ways")

	two.Verdict = report.Failed
	p = faultsPlan{}
	c.learnFrom(one, two, "drift/a", &p)
	g.Expect(p.Points).To(BeEmpty(), "it fails by itself")

	c.only = "drift/a/crash-after/create-nodes/1"
	c.repeats = 3
	p = faultsPlan{Ends: map[string][]string{}}
	c.learnFrom(one, one, "drift/a", &p)
	g.Expect(p.Points).To(HaveLen(3), "one point, three times")
}

func TestResumingOnlyGoesOn(t *testing.T) {
	g := NewWithT(t)
	folder := t.TempDir()
	g.Expect(checkResumed(folder)).To(MatchError(ContainSubstring("no run of `make crash`")))
	g.Expect(writeJSON(filepath.Join(folder, planFile), faultsPlan{Command: "make crash PROVIDER=aws"})).To(Succeed())
	g.Expect(checkResumed(folder)).To(Succeed())
	_, _, err := faultsConfig{resume: folder}.plan(t.Context())
	g.Expect(err).To(MatchError(ContainSubstring("it is a run of `make crash PROVIDER=aws`")))
	t.Setenv("SHARD", "1/2")
	g.Expect(checkResumed(folder)).To(MatchError(ContainSubstring("SHARD=1/2")))
}

func TestAnUnrecordedLaunchThatIsMadeAgainIsKnown(t *testing.T) {
	g := NewWithT(t)
	kill := historytest.Report(invariant.Harness, invariant.ReasonKilled, historytest.Pod("karpenter", "host"))
	node := historytest.Node("n").Taint(karpenter.UnregisteredTaint).Set("cloud://n", "spec", "providerID")
	pending := historytest.Report("a simulator", instancePending, node).Set("cloud://n", "message")
	claim := func() *historytest.Thing { return historytest.NodeClaim("c").Pool("p") }
	launched := func(id string) *historytest.Thing { return claim().Set(id, "status", "providerID") }
	begun := func() *historytest.Story { return historytest.Begin().Add(claim()) }

	g.Expect(launchedAgain(begun().Add(node).Add(kill).Change(launched("cloud://m")).History())).To(BeTrue(), "KWOK's")
	g.Expect(launchedAgain(begun().Add(pending).Add(kill).Change(launched("cloud://m")).History())).To(
		BeTrue(), "a cloud's")
	g.Expect(launchedAgain(begun().Add(pending).Add(kill).Change(launched("cloud://n")).History())).To(
		BeFalse(), "it was found again")
	g.Expect(launchedAgain(begun().Add(pending).Add(kill).Delete(claim()).History())).To(
		BeFalse(), "the NodeClaim went, which is another mistake")
	g.Expect(launchedAgain(begun().Add(pending).Change(launched("cloud://n")).Add(kill).History())).To(
		BeFalse(), "it was recorded")
	g.Expect(launchedAgain(begun().Add(node).Change(launched("cloud://m")).History())).To(BeFalse(), "nobody was killed")
}
