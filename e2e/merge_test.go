package e2e

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/onsi/ginkgo/v2/reporters"
	"github.com/onsi/ginkgo/v2/types"
	. "github.com/onsi/gomega"

	"github.com/plumbline-e2e/plumbline/e2e/report"
)

// writePart writes the folder of a part of a run, and returns its conformance.
func writePart(t *testing.T, folder string, d deal, number int, ran ...string) {
	t.Helper()
	g := NewWithT(t)
	g.Expect(os.MkdirAll(filepath.Join(folder, historiesFolder), 0o700)).To(Succeed())
	progress, err := report.OpenProgress(filepath.Join(folder, progressFile))
	g.Expect(err).NotTo(HaveOccurred())
	defer progress.Close()
	on := report.Cluster{Backend: "local", Kubernetes: "v1.36.3", Speed: "auto"}
	g.Expect(progress.Send(report.Message{Cluster: &on})).To(Succeed())
	var outcomes []report.Outcome
	var ginkgo types.Report
	for _, id := range ran {
		o := report.Outcome{
			Provider: "kwok", ID: id, Suite: "drift", Spec: id, Verdict: report.Passed,
			History: "/on/its/machine/" + historiesFolder + "/" + filepath.Base(id) + ".jsonl.gz",
		}
		outcomes = append(outcomes, o)
		g.Expect(progress.Send(report.Message{Outcome: &o})).To(Succeed())
		recording := filepath.Join(folder, historiesFolder, filepath.Base(id)+".jsonl.gz")
		g.Expect(os.WriteFile(recording, []byte(id), 0o600)).To(Succeed())
		ginkgo.SpecReports = append(ginkgo.SpecReports, types.SpecReport{
			LeafNodeText: id, LeafNodeType: types.NodeTypeIt, State: types.SpecStatePassed,
		})
	}
	g.Expect(reporters.GenerateJSONReport(ginkgo, filepath.Join(folder, reportFile))).To(Succeed())
	g.Expect(d.write(folder)).To(Succeed())
	c := report.Conformance{
		Format: report.Format, Provider: "kwok", Version: "v1.15.0", Clusters: []report.Cluster{on}, Green: true,
		Started: time.Date(2026, 1, 1, 0, number, 0, 0, time.UTC), Took: "5m0s",
		Part: &report.Part{Number: number, Of: len(d.Parts), Deal: d.hash()},
	}
	c.Add(outcomes)
	g.Expect(c.Write(filepath.Join(folder, ConformanceFile))).To(Succeed())
}

func TestPartsMakeTheWhole(t *testing.T) {
	g := NewWithT(t)
	d := deal{Whole: true, Parts: [][]string{{"drift/a", "drift/d"}, {"drift/c"}, {"drift/b"}}}
	parts, artifacts := t.TempDir(), t.TempDir()
	writePart(t, filepath.Join(parts, "one", "20260101-1"), d, 1, "drift/a", "drift/d")
	writePart(t, filepath.Join(parts, "two"), d, 2, "drift/c")
	writePart(t, filepath.Join(parts, "three"), d, 3, "drift/b")
	var out bytes.Buffer
	g.Expect(Merge(parts, artifacts, &out)).To(Succeed())
	g.Expect(out.String()).To(ContainSubstring("4 passed, 0 failed in 7m"))

	run := filepath.Join(artifacts, latestLink)
	c, err := report.ReadConformance(filepath.Join(run, ConformanceFile))
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(c.Complete).To(BeTrue())
	g.Expect(c.Green).To(BeTrue())
	g.Expect(c.Part).To(BeNil())
	g.Expect(c.Took).To(Equal("7m0s"))
	g.Expect(c.Clusters).To(HaveLen(1))
	g.Expect(c.Counts).To(Equal(map[report.Verdict]int{report.Passed: 4}))
	g.Expect(c.Specs).To(HaveExactElements(HaveField("ID", "drift/a"), HaveField("ID", "drift/b"),
		HaveField("ID", "drift/c"), HaveField("ID", "drift/d")))

	outcomes, err := Outcomes(run)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(outcomes).To(HaveLen(4))
	for _, o := range outcomes {
		text, err := os.ReadFile(o.History)
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(string(text)).To(Equal(o.ID))
	}
	var reports []types.Report
	data, err := os.ReadFile(filepath.Join(run, reportFile))
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(json.Unmarshal(data, &reports)).To(Succeed())
	g.Expect(reports).To(HaveLen(1))
	g.Expect(reports[0].SpecReports).To(HaveLen(4))
	junit, err := os.ReadFile(filepath.Join(run, junitFile))
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(string(junit)).To(ContainSubstring(`tests="4"`))
	page, err := os.ReadFile(filepath.Join(run, PageFile))
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(string(page)).To(ContainSubstring("drift/c"))
}

// What has not run is named, and the whole isn't green.
func TestPartsThatAreMissing(t *testing.T) {
	g := NewWithT(t)
	d := deal{Whole: true, Parts: [][]string{{"drift/a", "drift/d"}, {"drift/c"}}}
	parts, artifacts := t.TempDir(), t.TempDir()
	writePart(t, filepath.Join(parts, "one"), d, 1, "drift/a")
	var out bytes.Buffer
	err := Merge(parts, artifacts, &out)
	g.Expect(err).To(MatchError(And(ContainSubstring("part 2/2 is missing, with 1 spec"),
		MatchRegexp(`part 1/2 \(.*one\) ended before drift/d`))))
	c, err := report.ReadConformance(filepath.Join(artifacts, latestLink, ConformanceFile))
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(c.Green).To(BeFalse())
	g.Expect(c.Complete).To(BeFalse())
	g.Expect(c.NotReached).To(Equal(2))
}

// Parts that don't belong together are refused, all reasons together, and nothing is written.
func TestPartsOfDifferentRuns(t *testing.T) {
	g := NewWithT(t)
	d := deal{Parts: [][]string{{"drift/a"}, {"drift/b"}}}
	parts, artifacts := t.TempDir(), t.TempDir()
	writePart(t, filepath.Join(parts, "one"), d, 1, "drift/a")
	writePart(t, filepath.Join(parts, "other"), deal{Parts: [][]string{{"drift/a"}, {"drift/z"}}}, 2, "drift/z")
	writePart(t, filepath.Join(parts, "same"), d, 1, "drift/a")
	file := filepath.Join(parts, "same", ConformanceFile)
	c, err := report.ReadConformance(file)
	g.Expect(err).NotTo(HaveOccurred())
	c.Gates = map[string]bool{"NodeRepair": true}
	g.Expect(c.Write(file)).To(Succeed())
	g.Expect(Merge(parts, artifacts, &bytes.Buffer{})).To(MatchError(And(
		ContainSubstring("the gates is"), ContainSubstring("which specs each part has is"),
		ContainSubstring("is there twice"))))
	g.Expect(filepath.Join(artifacts, latestLink)).NotTo(BeAnExistingFile())

	g.Expect(Merge(t.TempDir(), artifacts, &bytes.Buffer{})).To(MatchError(ContainSubstring("there is no run below")))
	whole := t.TempDir()
	writeRun(t, filepath.Join(whole, "run"), "kwok", "drift/a")
	g.Expect(Merge(whole, artifacts, &bytes.Buffer{})).To(MatchError(ContainSubstring("is a whole run")))
}

// A spec that has run twice, or in a part that it isn't of, shows that something is mixed up.
func TestSpecsThatBelongElsewhere(t *testing.T) {
	g := NewWithT(t)
	d := deal{Parts: [][]string{{"drift/a"}, {"drift/b"}}}
	parts, artifacts := t.TempDir(), t.TempDir()
	writePart(t, filepath.Join(parts, "one"), d, 1, "drift/a", "drift/b")
	writePart(t, filepath.Join(parts, "two"), d, 2, "drift/b", "drift/z")
	g.Expect(Merge(parts, artifacts, &bytes.Buffer{})).To(MatchError(And(
		ContainSubstring("drift/b has run 2 times"), ContainSubstring("drift/z is in no part"))))
	g.Expect(filepath.Join(artifacts, latestLink)).NotTo(BeAnExistingFile())
}

// A red part makes the whole red.
func TestARedPart(t *testing.T) {
	g := NewWithT(t)
	d := deal{Parts: [][]string{{"drift/a"}, {"drift/b"}}}
	parts := t.TempDir()
	writePart(t, filepath.Join(parts, "one"), d, 1, "drift/a")
	writePart(t, filepath.Join(parts, "two"), d, 2)
	progress, err := report.OpenProgress(filepath.Join(parts, "two", progressFile))
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(progress.Send(report.Message{Outcome: &report.Outcome{
		ID: "drift/b", Verdict: report.Failed, Reason: "it broke",
	}})).To(Succeed())
	g.Expect(progress.Close()).To(Succeed())
	err = Merge(parts, t.TempDir(), &bytes.Buffer{})
	g.Expect(errors.Is(err, errRed)).To(BeTrue(), "%v", err)
}
