package report

import (
	"bytes"
	"strings"
	"testing"
	"time"

	. "github.com/onsi/gomega"
)

func outcome(v Verdict, spec string) Outcome {
	return Outcome{Provider: "kwok", Suite: "drift", Spec: spec, Verdict: v, Took: 4 * time.Second}
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
	failed.History, failed.Rerun = "h.jsonl.gz", "make e2e FOCUS='^x$'"
	terminal.Add(failed)

	g.Expect(out.String()).To(ContainSubstring("        always at most 2: broken\n        event 7\n        node a\n"))
	g.Expect(out.String()).To(ContainSubstring("recording: h.jsonl.gz"))
	g.Expect(out.String()).To(ContainSubstring("run it alone: make e2e FOCUS='^x$'"))
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
	g.Expect(out.String()).To(HavePrefix("[1/2] ✓ passed    4.0s  kwok: drift replaces nodes  (tested 7 times, and 1 of 2 invariants)"))

	o = outcome(Failed, "keeps nodes")
	o.Invariants = []Judged{{Check: "budgets", Verdict: "broken", Tested: 1}, {Check: "limits", Verdict: "broken", Tested: 1, Breaks: "it is about that"}}
	terminal.Add(o)
	o = outcome(Known, "packs pods")
	o.Invariants = []Judged{{Check: "limits", Verdict: "broken", Tested: 1}}
	terminal.Add(o)
	terminal.Summary("_artifacts/latest")
	g.Expect(out.String()).To(ContainSubstring("  ✗    2 specs,   10 times  budgets; BROKEN in 1\n"))
	g.Expect(out.String()).To(ContainSubstring("  ✓    2 specs,    2 times  limits; broken in 1 known failure; broken on purpose in 1\n"))
	g.Expect(out.String()).To(ContainSubstring("  provisioner: no subnets: 2 times, first\n    E\n"))
}

// Who watches a run sees its end first.
func TestSummaryEndsWithWhatFailed(t *testing.T) {
	g := NewWithT(t)
	var out bytes.Buffer
	terminal := NewTerminal(&out, 3, 1)
	failed := outcome(Failed, "replaces nodes")
	failed.Reason, failed.Rerun = "always at most 2: broken\nmore", "make e2e FOCUS='^x$'"
	skipped := outcome(Skipped, "knows the cloud")
	skipped.Reason = "the adapter says: no cloud"
	for _, o := range []Outcome{failed, skipped, outcome(Passed, "keeps nodes")} {
		terminal.Add(o)
	}
	out.Reset()
	terminal.Summary("_artifacts/latest")
	g.Expect(out.String()).To(HavePrefix(`
– skipped kwok: drift knows the cloud
          the adapter says: no cloud

✗ failed  kwok: drift replaces nodes
          always at most 2: broken
          run it alone: make e2e FOCUS='^x$'
1 passed, 1 failed, 1 skipped in `))
}

func TestSummaryIsGreenOnlyIfSomethingRanAndNothingIsRed(t *testing.T) {
	for name, c := range map[string]struct {
		verdicts []Verdict
		total    int
		green    bool
		last     string
	}{
		"all passed":         {[]Verdict{Passed, Passed}, 2, true, "2 passed, 0 failed, 0 skipped"},
		"passed and known":   {[]Verdict{Passed, Known}, 2, true, "1 passed, 0 failed, 1 skipped"},
		"only skipped":       {[]Verdict{Skipped}, 1, false, "0 passed, 0 failed, 1 skipped"},
		"nothing ran":        {nil, 0, false, "0 passed, 0 failed, 0 skipped"},
		"failed":             {[]Verdict{Passed, Failed}, 2, false, "1 passed, 1 failed, 0 skipped"},
		"vacuous":            {[]Verdict{Passed, Vacuous}, 2, false, "1 passed, 1 failed, 0 skipped"},
		"infra":              {[]Verdict{Passed, Infra}, 2, false, "1 passed, 1 failed, 0 skipped"},
		"one is not reached": {[]Verdict{Passed}, 2, false, "1 passed, 1 failed, 0 skipped"},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			var out bytes.Buffer
			terminal := NewTerminal(&out, c.total, 1)
			for _, v := range c.verdicts {
				terminal.Add(outcome(v, string(v)))
			}
			g.Expect(terminal.Summary("_artifacts/latest")).To(Equal(c.green))
			g.Expect(strings.TrimSpace(out.String())).To(HaveSuffix(c.last))
		})
	}
}
