package main

import (
	"os"
	"path/filepath"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/faults"
	"github.com/plumbline-e2e/plumbline/e2e/report"
)

func TestPartsOfARunOfFaultsAreJoined(t *testing.T) {
	g := NewWithT(t)
	parts := t.TempDir()
	c := faultsConfig{patterns: []faults.Pattern{faults.PatternCrashBefore, faults.PatternCrashAfter}, repeats: 1}
	all := c.pointsOf("drift/a", "create nodes", 1, 20)
	folder := func(n int) string { return filepath.Join(parts, string(rune('0'+n)), "faults", "run") }
	for n := 1; n <= 2; n++ {
		c.Shard = e2e.Shard{Part: n, Of: 2}
		learnt := all[:36+4*(n-1)] // one machine has seen two requests more
		plan := faultsPlan{
			Command: "make crash", Points: partOfPoints(c.Shard, learnt), Ends: map[string][]string{"drift/a": {"1 Node"}},
			Part: &report.Part{Number: n, Of: 2, Deal: c.dealOfFaults()},
		}
		run := filepath.Join(folder(n), "struck-1", "run")
		g.Expect(os.MkdirAll(run, 0o700)).To(Succeed())
		g.Expect(writeJSON(filepath.Join(folder(n), planFile), plan)).To(Succeed())
		progress, err := report.OpenProgress(filepath.Join(run, "progress.jsonl"))
		g.Expect(err).NotTo(HaveOccurred())
		for _, p := range plan.Points {
			g.Expect(progress.Send(report.Message{Outcome: &report.Outcome{
				ID: p.ID(), Verdict: report.Passed, End: []string{"1 Node"}, History: "/elsewhere/histories/x.gz",
			}})).To(Succeed())
		}
		g.Expect(progress.Close()).To(Succeed())
	}
	found, err := findParts(parts, planFile, func(p faultsPlan) *report.Part { return p.Part })
	g.Expect(err).NotTo(HaveOccurred())
	joined, missing, err := joinFaults(found)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(missing).NotTo(HaveOccurred())
	// Each point that both have seen is there once, and of the others those that one part has.
	g.Expect(joined.plan.Points).To(ContainElements(all[:36]))
	seen := map[string]bool{}
	for _, p := range joined.plan.Points {
		g.Expect(seen).NotTo(HaveKey(p.ID()))
		seen[p.ID()] = true
		verdict, _ := joined.verdict(p, joined.of)
		g.Expect(verdict).To(Equal(string(report.Passed)))
		g.Expect(joined.of[p.ID()].History).To(HavePrefix(parts))
	}
	g.Expect(mergeFaults(t.TempDir(), found)).To(Succeed())

	_, missing, err = joinFaults(found[1:])
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(missing).To(MatchError("part 1/2 is missing"))
	found[1].said.Command, found[0].part.Number = "make crash PROVIDER=aws", 2
	_, _, err = joinFaults(found)
	g.Expect(err).To(MatchError(And(ContainSubstring("are of different runs"), ContainSubstring("is there twice"))))
}
