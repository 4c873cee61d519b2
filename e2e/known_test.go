package e2e

import (
	"slices"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/plumbline-e2e/plumbline/e2e/explore"
	"github.com/plumbline-e2e/plumbline/e2e/invariant"
	"github.com/plumbline-e2e/plumbline/e2e/report"
	"github.com/plumbline-e2e/plumbline/providers"
)

func TestKnownFailures(t *testing.T) {
	spec := &Spec{Name: "x", Known: []Known{{Releases: ">=1.6.0 <=1.15.0", Issue: "upstream#1", Reason: "it doesn't"}}}
	for release, known := range map[string]bool{
		"v1.5.5": false, "v1.6.0": true, "1.15.0": true, "v1.16.0": false, "main": false, "": false,
	} {
		t.Run(release, func(t *testing.T) {
			g := NewWithT(t)
			k, err := spec.knownFor(release)
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(k != nil).To(Equal(known))
		})
	}
	_, err := (&Spec{Name: "x", Known: []Known{{Releases: "all of them"}}}).knownFor("v1.0.0")
	NewWithT(t).Expect(err).To(MatchError(ContainSubstring("not a constraint")))
}

func TestAProviderHasKnownFailuresOfItsOwn(t *testing.T) {
	spec := NewSuite("drift").Add(Spec{Name: "replaces nodes", Run: nothing, Known: []Known{
		{Releases: ">=1.8.0 <1.9.0", Issue: "core#1", Reason: "none does", Breaks: []string{"leads to"}},
	}})
	adapter := &providers.Adapter{KnownFailures: []providers.KnownFailure{
		{Spec: "e2e/known/pods", Releases: ">=1.0.0", Issue: "acme#1"},
		{
			Spec: "e2e/known", Releases: ">=1.3.0 <1.9.0", Issue: "acme#2", Reason: "it doesn't", Breaks: []string{"leads to"},
			Sometimes: true,
		},
	}}
	for release, known := range map[string]bool{
		"v1.2.0": false, "v1.3.0": true, "v1.8.0": true, "v1.9.0": false, "main": false,
	} {
		t.Run(release, func(t *testing.T) {
			g := NewWithT(t)
			k, err := knownFailure(spec, adapter, release)
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(k != nil).To(Equal(known))
			if known {
				g.Expect(*k).
					To(Equal(Known{
						Releases: ">=1.3.0 <1.9.0", Issue: "acme#2", Reason: "it doesn't", Breaks: []string{"leads to"}, Sometimes: true,
					}))
			}
		})
	}
}

// What a spec's known failure says of sequences holds for those that match, in the releases that it covers.
func TestKnownFailuresExplainSequences(t *testing.T) {
	g := NewWithT(t)
	known := func(issue, explored string) []Known {
		return []Known{{
			Releases: ">=1.9.0 <=1.15.0", Issue: issue, Reason: "it doesn't", Breaks: []string{issue + " broke"},
			Explored: explored,
		}}
	}
	suite := NewSuite("drift")
	suite.add(Spec{Name: "a", Run: nothing, Known: known("a", "nodes: ")}, "", "a")
	suite.add(Spec{Name: "b", Run: nothing, Known: known("b", "do: kill")}, "", "b")
	suite.add(Spec{Name: "c", Run: nothing, Known: known("c", "")}, "", "c")
	suite.add(Spec{Name: "a again", Run: nothing, Known: known("a", "nodes: ")}, "", "again") // of the same issue
	suite.add(Spec{Name: "d", Run: nothing}, "", "d")
	adapter := &providers.Adapter{KnownFailures: []providers.KnownFailure{{
		Spec: "d", Releases: ">=1.9.0", Issue: "d", Breaks: []string{"a broke"}, Explored: "memory: ",
	}}}
	limit := func(resource string) explore.Action {
		return explore.Action{Do: explore.Apply, Object: map[string]any{"limits": map[string]any{resource: 3}}}
	}
	nodes, memory, cpu, kill := limit("nodes"), limit("memory"), limit("cpu"), explore.Action{Do: explore.KillController}
	for _, c := range []struct {
		actions        []explore.Action
		release, issue string
		unknown        []explore.Action
	}{
		{[]explore.Action{cpu, nodes}, "v1.15.0", "a", []explore.Action{cpu}},
		{[]explore.Action{memory, cpu}, "v1.15.0", "d", []explore.Action{cpu}},
		{[]explore.Action{nodes, kill, nodes}, "v1.15.0", "a b", []explore.Action{}},
		{[]explore.Action{cpu}, "v1.15.0", "", []explore.Action{cpu}},
		{[]explore.Action{nodes}, "v1.8.0", "", []explore.Action{nodes}},
	} {
		sequence := explore.Sequence{Seed: 7, Actions: c.actions}
		broke := []report.Broken{{What: "a broke"}, {What: "b broke"}}
		k, unknown, err := knownExplored([]*Suite{suite}, adapter, sequence, c.release, broke)
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(unknown).To(Equal(explore.Sequence{Seed: 7, Actions: c.unknown}))
		k2, unknown, _ := knownExplored([]*Suite{suite}, adapter, sequence, c.release, []report.Broken{{What: "d broke"}})
		g.Expect(k2).To(BeNil(), "nobody knows why")
		g.Expect(unknown.Actions).To(Equal(c.unknown))
		if c.issue == "" {
			g.Expect(k).To(BeNil())
			continue
		}
		g.Expect(k.Issue).To(Equal(c.issue))
		g.Expect(k.excuses([]report.Broken{{What: "a broke"}})).To(BeTrue())
		g.Expect(k.excuses([]report.Broken{{What: "a broke"}, {What: "d broke"}})).To(BeFalse())
	}
	g.Expect(Known{Issue: "a", Reason: "b", Breaks: []string{"c"}, Explored: "("}.check()).NotTo(Succeed())
}

// While a controller is down, all that waits for it breaks. If it is known why it ended, so is the rest.
func TestAKnownPanicExplainsWhatBreaksBesideIt(t *testing.T) {
	g := NewWithT(t)
	suite := NewSuite("drift")
	suite.add(Spec{Name: "a", Run: nothing, Known: []Known{{
		Releases: ">=1.9.0", Issue: "a", Reason: "it panics", Breaks: []string{invariant.ControllerStaysUp, "^waited"},
		Explored: "do: kill",
	}}}, "", "a")
	sequence := explore.Sequence{Actions: []explore.Action{{Do: explore.KillController}}}
	beside := []report.Broken{
		{Kind: report.BrokenInvariant, What: "limits are kept", Why: "there are 3"},
		{What: "left behind (1)"},
		{What: "waited for 2 pods"},
	}
	k, _, err := knownExplored([]*Suite{suite}, &providers.Adapter{}, sequence, "v1.15.0", beside)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(k.unexcused(beside)).To(Equal(beside[:2]), "the controller stayed up")

	died := slices.Concat(beside, []report.Broken{
		{Kind: report.BrokenInvariant, What: invariant.ControllerStaysUp, Why: "exit code 2"},
	})
	k, _, err = knownExplored([]*Suite{suite}, &providers.Adapter{}, sequence, "v1.15.0", died)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(k.excuses(died)).To(BeTrue())
	g.Expect(k.excuses([]report.Broken{{What: "left behind (2)"}})).To(BeFalse())
}

func TestWhatIsKnownChangesTheVerdict(t *testing.T) {
	const budgets = "disruption budgets are never exceeded"
	check := report.Broken{Kind: report.BrokenCheck, What: "always at most 3 NodeClaims of pool a"}
	wait := report.Broken{Kind: report.BrokenWait, What: "waited for 3 nodes of pool a that are ready"}
	left := report.Broken{Kind: report.BrokenCleanUp, What: "left behind: Node a: ready"}
	ledger := report.Broken{Kind: report.BrokenInvariant, What: "instances come and go"}
	claims := report.Broken{Kind: report.BrokenCleanUp, What: "left behind: NodeClaim a: launched"}
	budget := report.Broken{Kind: report.BrokenInvariant, What: budgets}
	started := func(why string) report.Broken {
		return report.Broken{Kind: report.BrokenInvariant, What: "nodes start first", Why: why}
	}
	known := Known{
		Issue: "upstream#1", Reason: "it doesn't",
		Breaks: []string{
			"at most 3 NodeClaims", "^waited for 3 nodes", "left behind: Node ",
			"instances come and go", "budgets", "nodes start first: isn't initialized",
		},
	}
	for name, c := range map[string]struct {
		verdict      report.Verdict
		broke        []report.Broken
		want         report.Verdict
		reason, note string
	}{
		"all that broke is known": {
			report.Failed,
			[]report.Broken{check, wait, left, ledger},
			report.Known,
			"it doesn't (upstream#1)", "",
		},
		"something broke beside it": {
			report.Failed,
			[]report.Broken{check, claims, budget},
			report.Failed,
			"broken beside what is known: " + budgets + "; 1 object left behind; known is that it doesn't (upstream#1)", "",
		},
		"an invariant needs its name": {
			report.Failed,
			[]report.Broken{budget},
			report.Failed, "the reason",
			"another known failure here: it doesn't (upstream#1)",
		},
		"an invariant broke as it is known to": {
			report.Failed,
			[]report.Broken{started("node a isn't initialized, but is disrupted")},
			report.Known,
			"it doesn't (upstream#1)", "",
		},
		"an invariant broke in another way": {
			report.Failed, []report.Broken{started("node a is gone")}, report.Failed, "the reason", "another known failure here",
		},
		"nothing says what broke":       {report.Failed, nil, report.Failed, "the reason", "another known failure"},
		"a pass is unexpected":          {report.Passed, nil, report.Passed, "the reason", "may be out of date"},
		"vacuous stays":                 {report.Vacuous, nil, report.Vacuous, "the reason", ""},
		"infra stays":                   {report.Infra, nil, report.Infra, "the reason", ""},
		"what is skipped stays skipped": {report.Skipped, nil, report.Skipped, "the reason", ""},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			o := report.Outcome{Verdict: c.verdict, Reason: "the reason", Broke: c.broke}
			settle(&o, &known)
			g.Expect(o.Verdict).To(Equal(c.want))
			g.Expect(o.Reason).To(Equal(c.reason))
			g.Expect(o.Note).To(ContainSubstring(c.note))
			g.Expect(o.Reason + o.Detail).To(Or(ContainSubstring("the reason"), ContainSubstring("upstream#1")))

			o = report.Outcome{Verdict: report.Passed}
			settle(&o, &Known{Issue: "upstream#1", Reason: "now and then it doesn't", Sometimes: true})
			g.Expect(o.Note).To(BeEmpty(), "that it passes is no news")
		})
	}
}

func TestAKnownFailureSaysWhatBreaks(t *testing.T) {
	g := NewWithT(t)
	add := func(k Known) func() {
		return func() { NewSuite("x").Add(Spec{Name: "y", Run: nothing, Known: []Known{k}}) }
	}
	known := Known{Releases: ">=1.0.0", Issue: "upstream#1", Reason: "it doesn't", Breaks: []string{"at most 3"}}
	g.Expect(add(known)).NotTo(Panic())
	known.Breaks = []string{"at most (3"}
	g.Expect(add(known)).To(PanicWith(ContainSubstring("missing closing )")))
	for _, breaks := range []string{invariant.ControllerStaysUp, invariant.ControllerStaysUp + ": panic", "waited for "} {
		known.Breaks = []string{breaks}
		g.Expect(add(known)).NotTo(Panic(), breaks)
	}
	known.Breaks = []string{"^" + invariant.ControllerStaysUp}
	g.Expect(add(known)).To(PanicWith(ContainSubstring("excuses no invariant; write its name")))
	known.Breaks = nil
	g.Expect(add(known)).To(PanicWith(ContainSubstring("what it Breaks")))
}

func TestAKnownFailureOfNoSpecIsAMistake(t *testing.T) {
	g := NewWithT(t)
	adapter := &providers.Adapter{Name: "kwok", KnownFailures: []providers.KnownFailure{
		{Spec: "e2e/config/slow"}, {Spec: "lunch/served"},
	}}
	g.Expect(unknownKnownFailures(adapter, twoSuites())).To(Succeed(), "a suite that isn't run may have the spec")
	adapter.KnownFailures = append(adapter.KnownFailures, providers.KnownFailure{Spec: "e2e/config/slwo"})
	g.Expect(unknownKnownFailures(adapter, twoSuites())).To(MatchError(
		"the adapter's knownFailures[2].spec: there is no spec e2e/config/slwo, did you mean e2e/config/slow? `make list` " +
			"shows them all"))
	adapter.KnownFailures = []providers.KnownFailure{{Spec: "lunch/served", Breaks: []string{
		"waited for 2 ", "." + invariant.ControllerStaysUp[1:],
	}}}
	g.Expect(unknownKnownFailures(adapter, twoSuites())).To(MatchError(And(
		HavePrefix("the adapter's knownFailures[0].breaks[1]: "), ContainSubstring("write its name"))))
}
