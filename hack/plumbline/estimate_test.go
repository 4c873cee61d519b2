package main

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/faults"
	"github.com/plumbline-e2e/plumbline/e2e/report"
	"github.com/plumbline-e2e/plumbline/providers"
	"github.com/plumbline-e2e/plumbline/suites"
)

// wrote writes a run of specs that one worker ran without a pause, ten seconds after its start.
func wrote(t *testing.T, folder string, ids []string, took time.Duration) {
	t.Helper()
	g := NewWithT(t)
	g.Expect(os.MkdirAll(folder, 0o700)).To(Succeed())
	began := time.Now().UTC().Truncate(time.Second)
	progress, err := report.OpenProgress(filepath.Join(folder, "progress.jsonl"))
	g.Expect(err).NotTo(HaveOccurred())
	for i, id := range ids {
		g.Expect(progress.Send(report.Message{Outcome: &report.Outcome{
			ID: id, Verdict: report.Passed, Took: took, Worker: 1, Started: began.Add(10*time.Second + time.Duration(i)*took),
		}})).To(Succeed())
	}
	g.Expect(progress.Send(report.Message{Outcome: &report.Outcome{
		ID: "skipped", Verdict: report.Skipped, Worker: 1, Started: began,
	}})).To(Succeed())
	g.Expect(progress.Close()).To(Succeed())
	c := report.Conformance{
		Provider: "kwok", Started: began, Took: (10*time.Second + time.Duration(len(ids))*took).String(),
	}
	g.Expect(c.Write(filepath.Join(folder, e2e.ConformanceFile))).To(Succeed())
}

func TestRunsAreEstimatedForMoreMachines(t *testing.T) {
	g := NewWithT(t)
	kwok := providers.Named("kwok")
	dealt, err := e2e.Config{}.Parts(kwok, suites.All(), 1)
	g.Expect(err).NotTo(HaveOccurred())
	specs := dealt[0]
	folder := t.TempDir()
	wrote(t, folder, specs, time.Second)
	m, err := readMeasured(e2e.Config{}, kwok, folder)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(m.takes).To(HaveLen(len(specs)), "what is skipped takes no time")
	for machines, seconds := range map[int]int{1: len(specs), len(specs): 1} {
		took, err := m.on(machines)
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(took).To(BeNumerically("~", 10*time.Second+time.Duration(seconds)*time.Second, time.Second/10))
	}
	var said bytes.Buffer
	g.Expect(m.print(&said, []int{1, 2, 10000})).To(Succeed())
	g.Expect(said.String()).To(And(ContainSubstring("no number of pods takes less than 11s"),
		MatchRegexp(`\n +%d +11s`, len(specs))), "each must have one")
}

func TestFaultsAreEstimatedWithWhatEachMachineLearns(t *testing.T) {
	g := NewWithT(t)
	folder := t.TempDir()
	c := faultsConfig{patterns: []faults.Pattern{faults.PatternCrashBefore}, repeats: 1}
	plan := faultsPlan{Points: c.pointsOf("drift/a", "create nodes", 1, 40)}
	var ids []string
	for _, p := range plan.Points {
		ids = append(ids, p.ID())
	}
	g.Expect(writeJSON(filepath.Join(folder, planFile), plan)).To(Succeed())
	wrote(t, filepath.Join(folder, "honest", "latest"), []string{"drift/a/1", "drift/a/2"}, 5*time.Second)
	_, err := readMeasured(e2e.Config{}, nil, folder)
	g.Expect(err).To(MatchError(ContainSubstring("nothing was struck")))
	wrote(t, filepath.Join(folder, "struck-1", "latest"), ids, 2*time.Second)
	m, err := readMeasured(e2e.Config{}, nil, folder)
	g.Expect(err).NotTo(HaveOccurred())
	one, err := m.on(1)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(one).To(BeNumerically("~", (20+10+80)*time.Second, time.Second/10))
	many, err := m.on(1000)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(many).To(BeNumerically(">=", 32*time.Second), "each machine learns first")
}

func TestLiesAreEstimatedWithTheHonestProvider(t *testing.T) {
	g := NewWithT(t)
	folder := t.TempDir()
	r := liesReport{Honest: honest{Took: 60}, Lies: []liesRow{
		{lie: lie{Name: "a", Specs: []string{"drift/a"}}, Took: 30},
		{lie: lie{Name: "b", Specs: []string{"drift/a", "drift/b"}}, Took: 10},
	}}
	g.Expect(writeJSON(filepath.Join(folder, liesFile), r)).To(Succeed())
	m, err := readMeasured(e2e.Config{}, nil, folder)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(m.on(1)).To(Equal(100 * time.Second))
	g.Expect(m.on(2)).To(Equal(70*time.Second), "b alone needs both specs of the honest provider")

	_, err = readMeasured(e2e.Config{}, nil, t.TempDir())
	g.Expect(err).To(MatchError(ContainSubstring("there is no run")))
}
