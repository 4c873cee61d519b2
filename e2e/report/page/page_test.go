package page

import (
	"bytes"
	"strings"
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"github.com/plumbline-e2e/plumbline/e2e/report"
)

func TestThePageShowsFailuresFirst(t *testing.T) {
	g := NewWithT(t)
	text := written(t, someRun())
	g.Expect(text).To(HavePrefix("<!doctype html>"))
	order := []string{
		"✗ not green", "✓ 1 passed", "✗ 1 failed", "≈ 1 known", "– 2 skipped", "Kubernetes v1.36.3", "StaticCapacity on",
		"<h2>Failures</h2>", "a node &lt;b&gt;stays&lt;/b&gt;", "at event 7", "make e2e FOCUS=drift",
		"<h2>Known failures</h2>",
		"https://example.com/1", "<h2>Suites</h2>", "always one node", "<h2>Skipped, by reason</h2>", "<h2>Invariants</h2>",
		"budgets hold", "✗ in 1", "<h2>Errors in the controller’s log</h2>", "eviction: no",
	}
	at := 0
	for _, want := range order {
		found := strings.Index(text[at:], want)
		g.Expect(found).NotTo(Equal(-1), "%q comes late, or isn't there", want)
		at += found
	}
	g.Expect(text).NotTo(ContainSubstring("<b>stays"), "what specs say is text")
	g.Expect(text).NotTo(ContainSubstring("Earlier runs"), "there are none")
	for _, from := range []string{`src="`, "@import", "url(", `rel="stylesheet"`} {
		g.Expect(text).NotTo(ContainSubstring(from), "it needs no network")
	}
}

func TestThePageOfARunThatWasCutOff(t *testing.T) {
	run := someRun()
	run.Ended, run.Conformance = false, report.Conformance{Provider: "kwok"}
	NewWithT(t).Expect(written(t, run)).To(And(ContainSubstring("This run was cut off"), ContainSubstring("✗ not green")))
}

func TestTheGridPutsWhatChangedFirst(t *testing.T) {
	g := NewWithT(t)
	run := someRun()
	earlier := report.Conformance{Version: "v1.14.0", Specs: []report.Proof{
		{ID: "drift/replaced", Verdict: report.Passed},
		{ID: "drift/kept", Verdict: report.Passed},
		{ID: "drift/gone", Verdict: report.Failed, Reason: "it went"},
		{ID: "taints/known", Verdict: report.Known},
	}}
	run.Earlier = []Earlier{{earlier, "20261001"}}
	grid := run.Grid()
	var changed, same []string
	for _, row := range grid.Changed() {
		changed = append(changed, row.ID)
	}
	for _, row := range grid.Same() {
		same = append(same, row.ID)
	}
	g.Expect(changed).To(Equal([]string{"drift/gone", "drift/replaced"}))
	g.Expect(same).To(Equal([]string{"cloud/a", "cloud/b", "drift/kept", "taints/known"}))
	g.Expect(grid.Rows[2].Cells).To(Equal([]Cell{{report.Failed, "it went"}, {}}), "drift/gone, which isn't there now")
	g.Expect(written(t, run)).To(And(ContainSubstring("v1.14.0"), ContainSubstring(`title="failed: it went"`)))
}

func written(t *testing.T, run *Run) string {
	t.Helper()
	var b bytes.Buffer
	NewWithT(t).Expect(run.Write(&b)).To(Succeed())
	return b.String()
}

// someRun returns a run with a spec of each kind of verdict.
func someRun() *Run {
	outcome := func(id string, verdict report.Verdict, reason string) report.Outcome {
		suite, spec, _ := strings.Cut(id, "/")
		return report.Outcome{
			Provider: "kwok", ID: id, Suite: suite, Spec: spec, Verdict: verdict, Reason: reason,
			Took: 40 * time.Second, Real: 2 * time.Second,
		}
	}
	passed := outcome("drift/kept", report.Passed, "")
	passed.Claims = []report.Judged{{Check: "always one node", Verdict: "holds", Tested: 3}}
	failed := outcome("drift/replaced", report.Failed, "a node <b>stays</b>")
	failed.Detail, failed.Rerun = "at event 7", "make e2e FOCUS=drift"
	failed.Invariants = []report.Judged{{Check: "budgets hold", Verdict: "broken", Tested: 1}}
	failed.Errors = []report.LogError{{Message: "eviction: no", Times: 2, Line: "{}"}}
	known := outcome("taints/known", report.Known, "it is slow")
	known.Issue = "https://example.com/1"
	return &Run{
		Name: "20261124", Ended: true,
		Conformance: report.Conformance{
			Provider: "kwok", Version: "v1.15.0", Took: "5s", Gates: map[string]bool{"StaticCapacity": true},
			Clusters: []report.Cluster{{Backend: "local", Kubernetes: "v1.36.3", Karpenter: "v1.15.0", Speed: "auto"}},
		},
		Outcomes: []report.Outcome{
			passed, known, outcome("cloud/b", report.Skipped, "no cloud"),
			outcome("cloud/a", report.Skipped, "no cloud"), failed,
		},
		Links: map[string]Links{"drift/replaced": {Recording: "histories/drift.replaced.jsonl.gz"}},
	}
}
