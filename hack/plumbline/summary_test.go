package main

import (
	"testing"

	. "github.com/onsi/gomega"

	"github.com/plumbline-e2e/plumbline/e2e/report"
	"github.com/plumbline-e2e/plumbline/e2e/report/page"
)

func TestTheSummaryBeginsWithWhatFailed(t *testing.T) {
	outcome := func(id string, verdict report.Verdict, reason string) report.Outcome {
		return report.Outcome{
			Provider: "kwok", ID: id, Suite: "drift", Spec: "replaces | nodes", Verdict: verdict, Reason: reason,
		}
	}
	run := &page.Run{
		Conformance: report.Conformance{Provider: "kwok", Version: "v2"},
		Outcomes: []report.Outcome{
			outcome("drift/a", report.Passed, ""), outcome("drift/b", report.Failed, "broken\nat event 7"),
			outcome("drift/c", report.Skipped, "no zones"), outcome("drift/d", report.Known, "slow"),
		},
		Earlier: []page.Earlier{{Conformance: report.Conformance{Version: "v1", Specs: []report.Proof{
			{ID: "drift/a", Verdict: report.Passed}, {ID: "drift/b", Verdict: report.Passed},
		}}}},
	}
	g := NewWithT(t)
	g.Expect(markdown(run)).To(MatchRegexp(`(?s)^### kwok v2: 1 passed, 1 failed, 1 known, 1 skipped\n\n` +
		`\| verdict .*\| failed \| kwok: drift replaces \\\| nodes \(drift/b\) .*\| broken \|\n\n` +
		`Changed since the run before, of v1:\n\n- drift/b: failed, was passed\n\n` +
		`<details><summary>1 known failures</summary>.*slow.*<details><summary>1 passed</summary>.*drift/a.*` +
		`<details><summary>1 skipped: no zones</summary>\n\n- kwok: drift replaces \\\| nodes \(drift/c\)`))
	g.Expect(markdown(run)).NotTo(ContainSubstring("at event 7"))
}
