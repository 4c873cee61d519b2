package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/explore/draw"
	"github.com/plumbline-e2e/plumbline/e2e/report"
	"github.com/plumbline-e2e/plumbline/providers"
)

// Two machines have explored. Both have found one thing, and one of them another.
func TestPartsOfAnExplorationAreJoined(t *testing.T) {
	g := NewWithT(t)
	parts, artifacts := t.TempDir(), t.TempDir()
	long, short := draw.Draw(2, draw.Domain{}, nil), draw.Draw(3, draw.Domain{}, nil)
	short.Actions = long.Actions[:1]
	g.Expect(len(long.Actions)).To(BeNumerically(">", 1))
	write := func(n int, played string, all ...*found) {
		x := &exploration{
			Config: e2e.Config{Shard: e2e.Shard{Part: n, Of: 2}}, adapter: providers.Named("kwok"), provider: "kwok", seed: 1,
			folder: filepath.Join(parts, string(rune('0'+n)), "explore", "run"), began: time.Now(),
			earlier: time.Duration(n) * time.Hour,
		}
		g.Expect(os.MkdirAll(x.folder, 0o700)).To(Succeed())
		g.Expect(os.WriteFile(filepath.Join(x.folder, playedFile), []byte(played), 0o600)).To(Succeed())
		g.Expect(x.writeDomain()).To(Succeed())
		g.Expect(os.WriteFile(filepath.Join(x.folder, learntFile), []byte("learnt"), 0o600)).To(Succeed())
		for _, f := range all {
			f.Original, f.Command = long, "make explore"
			f.Outcome.History = filepath.Join(x.folder, "workers", "1", "histories", "a.jsonl.gz")
			x.found = append(x.found, f)
			g.Expect(x.write(f)).To(Succeed())
		}
		g.Expect(x.conclude()).To(MatchError(ContainSubstring("broke")))
		// As it was on another machine.
		said := x.explored(true)
		said.Folder = "/work/artifacts/explore/run"
		for _, f := range x.found {
			f.Outcome.History = strings.Replace(f.Outcome.History, x.folder, said.Folder, 1)
			g.Expect(f.describe(x.folderOf(f))).To(Succeed())
		}
		g.Expect(writeJSON(filepath.Join(x.folder, exploredFile), said)).To(Succeed())
	}
	write(1, `{"seed": 2, "verdict": "failed", "features": ["a"], "transitions": ["x > y", "y > z"]}`+"\n",
		&found{Number: 1, Signature: "limits are kept", Shortest: long, Repeated: 10, Again: 9, Seeds: []int{4, 2}})
	write(2, `{"seed": 2, "verdict": "failed", "features": ["a"], "transitions": ["x > y", "y > z"]}
		{"seed": 1, "verdict": "passed", "features": ["b"], "transitions": ["x > y", "z > x"]}`+"\n",
		&found{
			Number: 1, Signature: "limits are kept", With: []string{"nothing is left"}, Shortest: short,
			Repeated: 10, Again: 3, Seeds: []int{3},
		},
		&found{Number: 2, Signature: "nothing is left", Shortest: short, Seeds: []int{1}})

	g.Expect(mergeParts(artifacts, parts)).To(MatchError("2 promises broke"))
	whole := &exploration{
		folder: filepath.Join(artifacts, "explore", "latest"), seen: map[string]bool{}, features: map[string]bool{},
	}
	g.Expect(whole.open()).To(Succeed())
	g.Expect(whole.played).To(HaveLen(2), "what both have begun with is there once")
	g.Expect(whole.seen).To(HaveLen(3))
	g.Expect(whole.new).To(HaveLen(2))
	g.Expect(whole.earlier).To(BeNumerically("~", 2*time.Hour, time.Minute), "the parts ran at the same time")
	g.Expect(whole.found).To(HaveExactElements(
		And(HaveField("Signature", "nothing is left"), HaveField("Seeds", []int{1})),
		And(HaveField("Signature", "limits are kept"), HaveField("Seeds", []int{2, 3, 4}), HaveField("Again", 3),
			HaveField("Outcome.History", HavePrefix(parts))),
	), "what both have found is there once, by the shorter sequence")
	text, err := os.ReadFile(filepath.Join(whole.folder, "found", "2", "README.md"))
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(string(text)).To(And(ContainSubstring("limits are kept"), ContainSubstring("in 3 of 10 times")))
	g.Expect(filepath.Join(whole.folder, "found", "2", "sequence.yaml")).To(BeAnExistingFile())
	g.Expect(filepath.Join(whole.folder, issueFile)).To(BeAnExistingFile())
	g.Expect(filepath.Join(whole.folder, learntFile)).To(BeAnExistingFile(), "a run that goes on needs it")

	all, err := findParts(parts, exploredFile, func(e explored) *report.Part { return e.Part })
	g.Expect(err).NotTo(HaveOccurred())
	_, missing, err := joinExplorations(all[1:])
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(missing).To(MatchError("part 1/2 is missing"))
	all[0].said.Ended = false
	_, missing, err = joinExplorations(all)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(missing).To(MatchError(MatchRegexp(`^part 1/2 .* broke off after 1 sequence$`)))
	all[1].said.Provider, all[1].part.Deal = "aws", "SEED=7"
	_, _, err = joinExplorations(all)
	g.Expect(err).To(MatchError(And(ContainSubstring("they have not shared the same"),
		ContainSubstring("are of different providers or releases"))))
}
