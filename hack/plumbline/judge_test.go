package main

import (
	"bytes"
	"compress/gzip"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"github.com/plumbline-e2e/plumbline/e2e/history"
	"github.com/plumbline-e2e/plumbline/e2e/history/historytest"
	"github.com/plumbline-e2e/plumbline/e2e/invariant"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
)

// saved writes a recording to disk and returns its path.
func saved(t *testing.T, name string, s *historytest.Story) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	if err = history.Save(f, s.History()); err == nil {
		err = f.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// backwards returns a story in which a NodeClaim loses its condition Launched.
func backwards() *historytest.Story {
	claim := historytest.NodeClaim("c").Set("kwok://c", "status", "providerID").True(karpenter.Launched)
	return historytest.Begin().Add(claim).After(time.Second).Change(claim.False(karpenter.Launched))
}

func TestJudgeFiles(t *testing.T) {
	fine := historytest.Begin().Add(historytest.NodeClaim("c")).
		Change(historytest.NodeClaim("c").Set("kwok://c", "status", "providerID").True(karpenter.Launched))
	gapped := historytest.Begin().Gap(karpenter.Pods, "the watch broke").Add(historytest.Pod("p", "w"))
	for name, c := range map[string]struct {
		story *historytest.Story
		says  []string
		fails string
	}{
		"holds or vacuous": {fine, []string{
			"✓ holds, tested once: NodeClaims are launched",
			"· vacuous: limits of NodePools are never exceeded (never put to the test",
		}, ""},
		"broken": {backwards(), []string{
			"✗ broken: NodeClaims are launched", "NodeClaim c was Launched, and no longer is",
			"at +1s, event 1: MODIFIED NodeClaim c (condition Launched from True to False)",
			"got: NodeClaim c was Launched, and no longer is\n        NodeClaim c",
		}, "verdicts: broken"},
		"unknown": {gapped, []string{"? unknown: conditions are well-formed (the recording has a gap"}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			var out bytes.Buffer
			file := saved(t, "h.jsonl.gz", c.story)
			err := judgeFiles(&out, []string{file}, invariant.Params{})
			g.Expect(out.String()).To(HavePrefix(file + ": "))
			for _, text := range c.says {
				g.Expect(out.String()).To(ContainSubstring(text))
			}
			g.Expect(strings.Count(out.String(), "\n  ")).To(BeNumerically(">=", len(invariant.All())), "each has a verdict")
			if c.fails == "" {
				g.Expect(err).NotTo(HaveOccurred())
			} else {
				g.Expect(err).To(MatchError(ContainSubstring(c.fails)))
			}
		})
	}
}

// A recording of a cluster that the harness didn't start lies in a folder that says so.
func TestJudgeARecordedClusterBetweenGaps(t *testing.T) {
	g := NewWithT(t)
	folder := t.TempDir()
	g.Expect(os.WriteFile(filepath.Join(folder, "recording.json"), []byte(`{"redacted": false}`), 0o600)).To(Succeed())
	story := backwards().After(time.Second).Gap(karpenter.Pods, "the watch broke").After(time.Second).
		Add(historytest.NodeClaim("d").Set("kwok://d", "status", "providerID").True(karpenter.Launched))
	part, err := os.ReadFile(saved(t, "h.jsonl.gz", story))
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(os.WriteFile(filepath.Join(folder, "20260102T150405.000000Z.jsonl.gz"), part, 0o600)).To(Succeed())
	g.Expect(recordings([]string{folder})).To(HaveExactElements(folder), "it is one recording")

	var out bytes.Buffer
	g.Expect(judgeFiles(&out, []string{folder}, invariant.Params{})).To(MatchError(ContainSubstring("verdicts: broken")))
	for _, says := range []string{
		"– not judged: Karpenter comes to rest when nothing changes (what users", "– a gap at",
		"between gaps, 1 of 2: 2 events", "between gaps, 2 of 2", "✗ broken: NodeClaims are launched",
		"✓ holds, tested once: NodeClaims are launched",
	} {
		g.Expect(out.String()).To(ContainSubstring(says))
	}
	g.Expect(out.String()).NotTo(ContainSubstring("? unknown"))
}

func TestJudgeOfAnOlderFormat(t *testing.T) {
	g := NewWithT(t)
	file := filepath.Join(t.TempDir(), "old.jsonl")
	g.Expect(os.WriteFile(file, []byte(`{"history":1,"start":"2026-01-02T03:04:05Z"}
{"at":"2026-01-02T03:05:05Z","type":"END"}
`), 0o600)).To(Succeed())

	var out bytes.Buffer
	g.Expect(judgeFiles(&out, []string{file}, invariant.Params{})).To(Succeed())
	g.Expect(out.String()).To(ContainSubstring("– an older format: it doesn't show what the spec deleted"))
	g.Expect(out.String()).To(ContainSubstring("– not judged: registered NodeClaims are deleted for a reason"))
}

func TestJudgeSaysWhatIsWrongWithItsInput(t *testing.T) {
	whole, err := os.ReadFile(saved(t, "h.jsonl.gz", backwards()))
	if err != nil {
		t.Fatal(err)
	}
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	_, _ = z.Write([]byte(`{"some":"json"}` + "\n"))
	_ = z.Close()
	for name, c := range map[string]struct {
		content []byte
		want    string
	}{
		"cut off":       {whole[:20], "it has no whole line"},
		"not a history": {packed.Bytes(), "line 1: no history; it should begin with"},
		"not JSON":      {[]byte("hello\n"), "line 1:"},
		"empty":         {nil, "it has no whole line"},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			path := filepath.Join(t.TempDir(), "bad.jsonl.gz")
			g.Expect(os.WriteFile(path, c.content, 0o600)).To(Succeed())
			good := saved(t, "good.jsonl.gz", historytest.Begin().Add(historytest.Node("n")))
			var out bytes.Buffer
			err := judgeFiles(&out, []string{path, good}, invariant.Params{})
			g.Expect(err).To(MatchError(And(HavePrefix(path), ContainSubstring(c.want))))
			g.Expect(out.String()).To(ContainSubstring(good), "the others are judged all the same")
		})
	}
}

func TestRecordings(t *testing.T) {
	g := NewWithT(t)
	file := saved(t, "h.jsonl.gz", backwards())
	g.Expect(recordings([]string{file, filepath.Dir(file)})).
		To(Equal([]string{file, file}), "a folder stands for what is in it")
	_, err := recordings([]string{file + "x"})
	g.Expect(err).To(MatchError(ContainSubstring("no such file")))
	_, err = recordings([]string{t.TempDir()})
	g.Expect(err).To(MatchError(ContainSubstring("no file in it ends with .jsonl.gz")))
	_, err = recordings([]string{"-h"})
	g.Expect(err).To(MatchError(ContainSubstring("name the recordings")))
	g.Expect(judge(t.Context(), nil)).To(MatchError(ContainSubstring("name the recordings")))
}
