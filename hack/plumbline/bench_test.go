package main

import (
	"fmt"
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"github.com/plumbline-e2e/plumbline/e2e/report"
	"github.com/plumbline-e2e/plumbline/providers"
)

func TestParse(t *testing.T) {
	out := `goos: linux
BenchmarkRecorder/1000-events-per-s-2   10000   1000123 ns/op   2.41 %-of-a-core   24.1 cpu-µs/event
BenchmarkAwait-2   1000   9999 ns/op   0.81 ms-median
PASS
ok  	github.com/plumbline-e2e/plumbline/e2e/history	20.1s
`
	NewWithT(t).Expect(parse(out)).To(Equal([]figure{
		{Name: "Recorder/1000-events-per-s-2", Value: 2.41, Unit: "%-of-a-core", Bound: 3},
		{Name: "Recorder/1000-events-per-s-2", Value: 24.1, Unit: "cpu-µs/event"},
		{Name: "Await-2", Value: 0.81, Unit: "ms-median"},
	}))
	NewWithT(t).Expect(parse("PASS\n")).To(BeEmpty())
}

func TestASampleIsTheLongestAndSomeOfTheOthers(t *testing.T) {
	g := NewWithT(t)
	var outcomes []report.Outcome
	for minutes := range 110 { // the last is the longest
		outcomes = append(outcomes, report.Outcome{
			Spec: fmt.Sprint(minutes), Verdict: report.Passed,
			Took: time.Duration(minutes) * time.Minute,
		})
	}
	outcomes = append(outcomes, report.Outcome{Spec: "skipped", Verdict: report.Skipped, Took: 2 * time.Hour})

	slow, others := sample(outcomes)
	g.Expect(slow).To(HaveLen(longest))
	g.Expect(slow[0].Spec).To(Equal("109"))
	g.Expect(others).To(HaveLen(100 / oneIn))
	g.Expect(others[0].Spec).To(Equal("94"), "the middle one of 99 to 90")
}

func TestOnlySomeAreMeasured(t *testing.T) {
	g := NewWithT(t)
	var b benched
	chosen, err := matching(b.all(), "clusters")
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(chosen).To(HaveLen(1))
	_, err = matching(b.all(), "clutsers")
	g.Expect(err).To(MatchError(ContainSubstring(`-only "clutsers" matches nothing; there are: make e2e until`)))
	_, err = matching(b.all(), "(")
	g.Expect(err).To(MatchError(ContainSubstring("is not a regular expression")))
}

func TestOnlyWhatTheAdapterHasHooksForIsMeasured(t *testing.T) {
	g := NewWithT(t)
	var b benched
	all := b.all()
	able, err := possible(all, providers.Named("aws"))
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(able).To(HaveLen(len(all)))
	able, err = possible(all, providers.Named("kwok"))
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(able).To(HaveLen(len(all)-len(announced())), "all the others")
	chosen, err := matching(all, "interruption")
	g.Expect(err).NotTo(HaveOccurred())
	_, err = possible(chosen, providers.Named("kwok"))
	g.Expect(err).To(MatchError(ContainSubstring(
		"interruption, by 15000 messages: the adapter of kwok has no hook announceMany")))
}
