package main

import (
	"strings"
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"github.com/plumbline-e2e/plumbline/e2e/report"
)

func outcome(spec string, v report.Verdict, reason string) report.Message {
	return report.Message{Outcome: &report.Outcome{
		Provider: "kwok", Suite: "drift", Spec: spec, Verdict: v, Reason: reason, Took: 1234 * time.Millisecond,
	}}
}

func TestWhatNeedsAttentionComesFirst(t *testing.T) {
	g := NewWithT(t)
	text := markdown([]report.Message{
		{Step: "starting"},
		outcome("replaces nodes", report.Passed, ""),
		outcome("waits for the replacement", report.Failed, "a node went first\nthen its pods | all <6>"),
		outcome("spares the rest", report.Skipped, "unsupported"),
	})
	g.Expect(text).To(HavePrefix("**1 passed, 1 failed, 1 skipped**\n"))
	shown, folded, found := strings.Cut(text, "<details>")
	g.Expect(found).To(BeTrue())
	g.Expect(shown).To(ContainSubstring(
		`| failed | kwok: drift waits for the replacement | 1.2s | a node went first<br>then its pods \| all &lt;6> |`))
	g.Expect(shown).NotTo(ContainSubstring("replaces nodes"))
	g.Expect(folded).To(And(ContainSubstring("replaces nodes"), ContainSubstring("unsupported")))
}

func TestARunThatWasCutOff(t *testing.T) {
	g := NewWithT(t)
	g.Expect(markdown([]report.Message{{Fatal: "no room\n"}})).To(And(
		ContainSubstring("no room"), ContainSubstring("no spec has ended")))
	g.Expect(summarize(&strings.Builder{}, t.TempDir())).To(MatchError(ContainSubstring("no run has left its messages")))
}
