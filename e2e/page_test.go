package e2e

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"github.com/plumbline-e2e/plumbline/e2e/report"
)

func TestTheReportHasEarlierRunsOfTheProvider(t *testing.T) {
	g := NewWithT(t)
	artifacts := t.TempDir()
	first, second, other := filepath.Join(artifacts, "20260101-1"), filepath.Join(artifacts, "20260102-1"),
		filepath.Join(artifacts, "20260101-2")
	writeRun(t, first, "kwok", "drift/seldom")
	writeRun(t, other, "aws", "cloud/else")
	writeRun(t, second, "kwok", "drift/often")
	link := filepath.Join(artifacts, latestLink)
	g.Expect(os.Symlink(second, link)).To(Succeed())

	g.Expect(WritePage(link, quiet)).To(Succeed())
	text, err := os.ReadFile(filepath.Join(second, PageFile))
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(string(text)).To(And(ContainSubstring("drift/seldom"), ContainSubstring("drift/often"),
		Not(ContainSubstring("cloud/else")), ContainSubstring(`href="histories/drift.often.jsonl.gz"`)))

	g.Expect(WritePage(first, quiet)).To(Succeed())
	text, err = os.ReadFile(filepath.Join(first, PageFile))
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(string(text)).NotTo(ContainSubstring("drift/often"), "it came later")
}

func TestTheReportOfWhatIsNoRun(t *testing.T) {
	g := NewWithT(t)
	empty := t.TempDir()
	g.Expect(WritePage(empty, quiet)).To(MatchError(ContainSubstring("is no folder of a run")))
	g.Expect(WritePage(filepath.Join(empty, "nowhere"), quiet)).To(MatchError(ContainSubstring("nowhere")))
	g.Expect(os.WriteFile(filepath.Join(empty, progressFile), nil, 0o600)).To(Succeed())
	g.Expect(WritePage(empty, quiet)).To(Succeed(), "it was cut off before its first spec")
	g.Expect(os.WriteFile(filepath.Join(empty, ConformanceFile), []byte("specs: 7"), 0o600)).To(Succeed())
	g.Expect(WritePage(empty, quiet)).To(MatchError(ContainSubstring(ConformanceFile)))
}

func TestAnEarlierRunThatCannotBeReadIsPassedOver(t *testing.T) {
	g := NewWithT(t)
	artifacts := t.TempDir()
	first, broken, run := filepath.Join(artifacts, "20260101-1"), filepath.Join(artifacts, "20260101-2"),
		filepath.Join(artifacts, "20260102-1")
	writeRun(t, first, "kwok", "drift/seldom")
	writeRun(t, run, "kwok", "drift/often")
	file := filepath.Join(broken, ConformanceFile)
	g.Expect(os.MkdirAll(broken, 0o700)).To(Succeed())
	g.Expect(os.WriteFile(file, []byte("specs: 7"), 0o600)).To(Succeed())
	var said []string
	g.Expect(WritePage(run, func(text string) { said = append(said, text) })).To(Succeed())
	g.Expect(said).To(ConsistOf(And(HavePrefix("an earlier run is left out of the page: "), ContainSubstring(file))))
	text, err := os.ReadFile(filepath.Join(run, PageFile))
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(string(text)).To(ContainSubstring("drift/seldom"), "the others are shown")
}

func quiet(string) {}

// writeRun writes the folder of a run with one spec that passed.
func writeRun(t *testing.T, folder, provider, id string) {
	t.Helper()
	g := NewWithT(t)
	g.Expect(os.MkdirAll(filepath.Join(folder, "histories"), 0o700)).To(Succeed())
	recording := filepath.Join(folder, "histories", "drift.often.jsonl.gz")
	g.Expect(os.WriteFile(recording, nil, 0o600)).To(Succeed())
	o := report.Outcome{Provider: provider, ID: id, Suite: "drift", Verdict: report.Passed, History: recording}
	progress, err := report.OpenProgress(filepath.Join(folder, progressFile))
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(progress.Send(report.Message{Outcome: &o})).To(Succeed())
	g.Expect(progress.Close()).To(Succeed())
	c := report.Conformance{Provider: provider, Started: time.Now()}
	c.Add([]report.Outcome{o})
	g.Expect(c.Write(filepath.Join(folder, ConformanceFile))).To(Succeed())
}
