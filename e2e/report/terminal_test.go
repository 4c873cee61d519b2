package report

import (
	"bytes"
	"strings"
	"testing"
	"time"

	. "github.com/onsi/gomega"
)

func outcome(v Verdict, spec string) Outcome {
	return Outcome{Provider: "kwok", ID: "drift/one-to-one", Suite: "drift", Spec: spec, Verdict: v, Took: 4 * time.Second}
}

func TestTerminalShowsALinePerSpec(t *testing.T) {
	g := NewWithT(t)
	var out bytes.Buffer
	terminal := NewTerminal(&out, 3, 2)
	terminal.Add(outcome(Passed, "replaces nodes"))
	skipped := outcome(Skipped, "knows the cloud")
	skipped.Reason = "the adapter says: no cloud"
	terminal.Add(skipped)

	lines := strings.Split(out.String(), "\n")
	g.Expect(lines[0]).To(Equal("[1/3] ✓ passed    4.0s  kwok: drift replaces nodes  (about 4.0s left)"))
	g.Expect(lines[1]).To(Equal("[2/3] – skipped   4.0s  kwok: drift knows the cloud  (about 2.0s left)"))
	g.Expect(lines[2]).To(Equal("        the adapter says: no cloud"))
}

func TestTerminalShowsAllOfAFailure(t *testing.T) {
	g := NewWithT(t)
	var out bytes.Buffer
	terminal := NewTerminal(&out, 1, 1)
	failed := outcome(Failed, "replaces nodes")
	failed.Reason, failed.Detail = "always at most 2: broken", "event 7\nnode a"
	failed.History, failed.Rerun = "h.jsonl.gz", "make e2e FOCUS=^drift/one-to-one$"
	terminal.Add(failed)

	g.Expect(out.String()).To(ContainSubstring("kwok: drift replaces nodes [drift/one-to-one]\n"))
	g.Expect(out.String()).To(ContainSubstring("        always at most 2: broken\n        event 7\n        node a\n"))
	g.Expect(out.String()).To(ContainSubstring("recording: h.jsonl.gz"))
	g.Expect(out.String()).To(ContainSubstring("run it alone: make e2e FOCUS=^drift/one-to-one$"))
}

func TestTerminalShowsHowOftenThingsWereTested(t *testing.T) {
	g := NewWithT(t)
	var out bytes.Buffer
	terminal := NewTerminal(&out, 2, 1)
	o := outcome(Passed, "replaces nodes")
	o.Claims = []Judged{{Check: "a", Verdict: "holds", Tested: 4}, {Check: "b", Verdict: "holds", Tested: 3}}
	o.Invariants = []Judged{{Check: "budgets", Verdict: "holds", Tested: 9}, {Check: "limits", Verdict: "vacuous"}}
	o.Errors = []LogError{{Message: "provisioner: no subnets", Times: 2, Line: "E"}}
	terminal.Add(o)
	g.Expect(out.String()).To(HavePrefix(
		"[1/2] ✓ passed    4.0s  kwok: drift replaces nodes  (tested 7 times, and 1 of 2 invariants)"))

	o = outcome(Failed, "keeps nodes")
	o.Invariants = []Judged{
		{Check: "budgets", Verdict: "broken", Tested: 1},
		{Check: "limits", Verdict: "broken", Tested: 1, Breaks: "it is about that"},
	}
	terminal.Add(o)
	o = outcome(Known, "packs pods")
	o.Invariants = []Judged{{Check: "limits", Verdict: "broken", Tested: 1}}
	terminal.Add(o)
	terminal.Summary("_artifacts/latest")
	g.Expect(out.String()).To(ContainSubstring("  ✗    2 specs,   10 times  budgets; BROKEN in 1\n"))
	g.Expect(out.String()).To(ContainSubstring(
		"  ✓    2 specs,    2 times  limits; broken in 1 known failure; broken on purpose in 1\n"))
	g.Expect(out.String()).To(ContainSubstring("  provisioner: no subnets: 2 times, first\n    E\n"))
}

// People see the end of the output first.
func TestSummaryEndsWithWhatFailed(t *testing.T) {
	g := NewWithT(t)
	var out bytes.Buffer
	terminal := NewTerminal(&out, 3, 1)
	failed := outcome(Failed, "replaces nodes")
	failed.Reason, failed.Rerun = "always at most 2: broken\nmore", "make e2e FOCUS=^drift/one-to-one$"
	for _, o := range []Outcome{
		failed, skipped("knows the cloud", "the adapter says: no cloud"), outcome(Passed, "keeps nodes"),
	} {
		terminal.Add(o)
	}
	out.Reset()
	terminal.Summary("_artifacts/latest")
	g.Expect(out.String()).To(HavePrefix(`
– skipped kwok: drift knows the cloud: the adapter says: no cloud

✗ failed  kwok: drift replaces nodes [drift/one-to-one]
          always at most 2: broken
          run it alone: make e2e FOCUS=^drift/one-to-one$
1 passed, 1 failed, 1 skipped in `))
}

// Dozens of specs are skipped for a few reasons.
func TestSkipsAreGroupedByReason(t *testing.T) {
	g := NewWithT(t)
	var out bytes.Buffer
	terminal := NewTerminal(&out, 5, 1)
	for _, o := range []Outcome{
		skipped("knows the cloud", "no cloud"), skipped("asks the cloud", "no cloud"),
		skipped("repairs nodes", "the gate is off"), skipped("drains the cloud", "no cloud"), outcome(Passed, "keeps nodes"),
	} {
		terminal.Add(o)
	}
	live := out.String()
	g.Expect(strings.Count(live, "no cloud")).To(Equal(1), live)
	g.Expect(strings.Count(live, "skipped")).To(Equal(2), live)
	g.Expect(live).To(ContainSubstring("[5/5] ✓ passed"), "those that aren't shown count")
	out.Reset()
	terminal.Summary("_artifacts/latest")
	g.Expect(out.String()).To(HavePrefix(`
– skipped 3 specs: no cloud
– skipped kwok: drift repairs nodes: the gate is off

1 passed, 0 failed, 4 skipped in `))
}

func skipped(spec, reason string) Outcome {
	o := outcome(Skipped, spec)
	o.Reason = reason
	return o
}

func TestAllNumbersOfARunAgree(t *testing.T) {
	of := func(verdicts ...Verdict) (all []Outcome) {
		for _, v := range verdicts {
			all = append(all, outcome(v, "x"))
		}
		return all
	}
	for want, c := range map[string]struct {
		outcomes   []Outcome
		notReached int
	}{
		"0 passed, 0 failed":                                         {nil, 0},
		"1 passed, 1 failed":                                         {of(Passed, Failed), 0},
		"2 passed, 0 failed, 1 known, 1 skipped":                     {of(Passed, Known, Passed, Skipped), 0},
		"1 passed, 1 failed (1 infra among them), 1 known":           {of(Passed, Infra, Known), 0},
		"0 passed, 122 failed (2 infra, 119 not reached among them)": {of(Infra, Failed, Infra), 119},
		"0 passed, 2 failed (1 vacuous, 1 infra among them)":         {of(Infra, Vacuous), 0},
	} {
		NewWithT(t).Expect(Counts(c.outcomes, c.notReached)).To(Equal(want))
	}
}

func TestSummaryIsGreenOnlyIfSomethingRanAndNothingIsRed(t *testing.T) {
	for name, c := range map[string]struct {
		verdicts []Verdict
		total    int
		green    bool
		last     string
	}{
		"all passed":         {[]Verdict{Passed, Passed}, 2, true, "2 passed, 0 failed"},
		"passed and known":   {[]Verdict{Passed, Known}, 2, true, "1 passed, 0 failed, 1 known"},
		"only skipped":       {[]Verdict{Skipped}, 1, false, "0 passed, 0 failed, 1 skipped"},
		"nothing ran":        {nil, 0, false, "0 passed, 0 failed"},
		"failed":             {[]Verdict{Passed, Failed}, 2, false, "1 passed, 1 failed"},
		"vacuous":            {[]Verdict{Passed, Vacuous}, 2, false, "1 passed, 1 failed (1 vacuous among them)"},
		"infra":              {[]Verdict{Passed, Infra}, 2, false, "1 passed, 1 failed (1 infra among them)"},
		"one is not reached": {[]Verdict{Passed}, 2, false, "1 passed, 1 failed (1 not reached among them)"},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			var out bytes.Buffer
			terminal := NewTerminal(&out, c.total, 1)
			for _, v := range c.verdicts {
				terminal.Add(outcome(v, string(v)))
			}
			g.Expect(terminal.Summary("_artifacts/latest")).To(Equal(c.green))
			lines := strings.Split(strings.TrimSpace(out.String()), "\n")
			g.Expect(lines[len(lines)-1]).To(HavePrefix(c.last + " in "))
		})
	}
}
