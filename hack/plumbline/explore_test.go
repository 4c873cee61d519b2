package main

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/explore"
	"github.com/plumbline-e2e/plumbline/e2e/explore/draw"
	"github.com/plumbline-e2e/plumbline/e2e/report"
	"github.com/plumbline-e2e/plumbline/fixtures"
	"github.com/plumbline-e2e/plumbline/providers"
)

func TestExplorationsRefuseWhatCantBe(t *testing.T) {
	g := NewWithT(t)
	sequence := filepath.Join(t.TempDir(), "sequence.yaml")
	g.Expect(os.WriteFile(sequence, []byte("name: a\nactions: [{do: jump}]\n"), 0o600)).To(Succeed())
	for name, value := range map[string]string{
		"FOR": "long", "SEED": "0", "REPEATS": "none", "N": "4", "SHARD": "5/4", "REPLAY": sequence, "RESUME": t.TempDir(),
		"FOCUS": "drift", "ARTIFACTS": t.TempDir(),
	} {
		t.Setenv(name, value)
	}
	_, err := readExploration("none")
	for _, want := range []string{
		"FOR=long: write a duration such as 30m", "SEED=0: write a whole number from 1", "REPEATS=none", "SHARD=5/4",
		`sequence.yaml: action 1: do: "jump" is none of`, "it is no folder of an exploration", "FOCUS=drift: sequences are no specs",
		"run `make explore`", "N=4: that is how many lies are to be found", "FOR=long: REPLAY plays one sequence",
	} {
		g.Expect(err).To(MatchError(ContainSubstring(want)))
	}
	t.Setenv("REPLAY", "")
	_, err = readExploration("none")
	g.Expect(err).To(MatchError(ContainSubstring("REPEATS=none: that is for REPLAY")))
}

// Sequences for a provider without NodePools can't be drawn, but others can be played.
func TestExplorationsNeedNodePools(t *testing.T) {
	g := NewWithT(t)
	t.Setenv("PROVIDER", "../../providers/kaito/adapter.yaml")
	_, err := readExploration("none")
	g.Expect(err).To(MatchError(ContainSubstring("sequences are about NodePools, and kaito does not support nodePools: ")))
	sequence := filepath.Join(t.TempDir(), "sequence.yaml")
	g.Expect(os.WriteFile(sequence, []byte("name: a\nactions: [{do: wait}]\n"), 0o600)).To(Succeed())
	t.Setenv("REPLAY", sequence)
	_, err = readExploration("none")
	g.Expect(err).NotTo(MatchError(ContainSubstring("NodePools")))
}

// What another release has shown is not known of this one.
func TestAnotherReleasesExplorationDoesNotGoOn(t *testing.T) {
	g := NewWithT(t)
	x := &exploration{
		folder: t.TempDir(), adapter: providers.Named("kwok"), provider: "kwok", began: time.Now(),
		Config: e2e.Config{Release: "v1.14.3"},
	}
	g.Expect(x.writeDomain()).To(Succeed())
	g.Expect(x.writeExplored(true)).To(Succeed())
	t.Setenv("RESUME", x.folder)
	g.Expect(x.readResume()).To(Succeed())
	x.Release = "v1.15.0"
	g.Expect(x.readResume()).To(MatchError(ContainSubstring("it is an exploration of kwok v1.14.3, not of kwok v1.15.0")))
}

// The same mistake of the provider has other names in each sequence.
func TestSignaturesHaveNoNames(t *testing.T) {
	g := NewWithT(t)
	a := signature(report.Broken{What: "left behind: Node kwok-pool1-7xk2p-chindot-2-ssgwnkrpkr-113486187"})
	b := signature(report.Broken{What: "left behind: Node kwok-pool3-abc12-neckhill-9-xyzzy-99\nmore"})
	g.Expect(a).To(Equal(b))
	g.Expect(signature(report.Broken{What: "limits of NodePools are never exceeded"})).To(
		Equal("limits of NodePools are never exceeded"))
}

// What a sequence breaks at once is found once, and by the name of what breaks again.
func TestWhatBreaksTogetherIsFoundOnce(t *testing.T) {
	g := NewWithT(t)
	outcome := func(what ...string) (o report.Outcome) {
		o.Verdict = report.Failed
		for _, w := range what {
			o.Broke = append(o.Broke, report.Broken{What: w})
		}
		return o
	}
	x := &exploration{}
	first := explore.Sequence{Seed: 1}
	f := x.find(first, outcome("limits are kept", "nothing is left", "limits are kept", "pods run"))
	named := func(f *found) []any { return []any{f.Number, f.Signature, f.With} }
	g.Expect(named(f)).To(Equal([]any{1, "limits are kept", []string{"nothing is left", "pods run"}}))
	g.Expect(x.find(explore.Sequence{Seed: 2}, outcome("pods run"))).To(BeNil(), "somebody looks into it")
	g.Expect(f.Seeds).To(Equal([]int{1, 2}))

	g.Expect(f.prefer(outcome("another"))).To(BeFalse())
	f.Missed = 1
	g.Expect(f.often()).To(Equal("not broken again in 1 try"))
	g.Expect(f.prefer(outcome("another", "nothing is left"))).To(BeTrue())
	g.Expect(named(f)).To(Equal([]any{1, "nothing is left", []string{"limits are kept", "pods run"}}))
	f.narrow(outcome("nothing is left", "pods run"))
	f.Repeated, f.Again = 10, 9
	g.Expect(f.With).To(Equal([]string{"pods run"}))
	g.Expect(f.text("sequence.yaml")).To(And(
		ContainSubstring("in 9 of 10 times"), ContainSubstring("It breaks as well: pods run.")))

	rest := x.find(first, outcome("limits are kept", "nothing is left", "pods run"))
	g.Expect(named(rest)).To(Equal([]any{2, "limits are kept", []string{}}), "it goes by itself")
	g.Expect(x.find(first, report.Outcome{Verdict: report.Passed})).To(BeNil())
}

// A promise can be broken for several reasons. Only a sequence that has all of the shortest one may be another case of it.
func TestAPromiseIsFoundBrokenForEachReason(t *testing.T) {
	g := NewWithT(t)
	sequence := func(seed int, objects ...fixtures.Object) explore.Sequence {
		q := explore.Sequence{Name: fmt.Sprint("seed-", seed), Seed: seed}
		for _, o := range objects {
			q.Actions = append(q.Actions, explore.Action{Do: explore.Apply, Object: o.Unstructured().Object})
		}
		return q
	}
	broke := report.Outcome{Verdict: report.Failed, Broke: []report.Broken{{What: "limits are kept"}}}
	pod := func() *fixtures.Workload { return fixtures.Pod().Called("pod1") }
	ports := sequence(1, pod().HostPort(80).GracePeriod(3))
	tolerant := sequence(2, pod().Tolerate("a"))
	both := sequence(3, fixtures.DaemonSet().Called("daemon1").HostPort(7).Tolerate("a"))

	x := &exploration{}
	left := func(q explore.Sequence) explore.Sequence {
		return x.unexplained(q, outcome{Outcome: broke, unknown: q})
	}
	first := x.find(ports, broke)
	g.Expect(first.Number).To(Equal(1))
	g.Expect(x.find(tolerant, broke)).To(BeNil(), "it isn't known yet what the first takes")
	first.Shortest, first.Repeated = sequence(1, pod().HostPort(80)), 10
	g.Expect(x.find(both, broke)).To(BeNil(), "it has a host port")
	g.Expect(left(both).Actions).To(BeEmpty(), "nothing is left without it")
	more := sequence(4, fixtures.DaemonSet().Called("daemon1").HostPort(7), pod().Tolerate("b"))
	g.Expect(left(more).Actions).To(Equal(more.Actions[1:]))
	g.Expect(left(tolerant).Actions).To(HaveLen(1), "it is no case of what was found")
	known := outcome{Outcome: broke, unknown: sequence(4, pod())}
	g.Expect(x.unexplained(more, known).Actions).To(HaveLen(1))
	tolerant.Name = "seed-4"
	second := x.find(tolerant, broke)
	g.Expect(second.Number).To(Equal(2))
	g.Expect(x.broke()).To(MatchError("1 promise broke, in 2 ways"))
	second.Missed = confirmed
	g.Expect(x.find(tolerant, broke)).To(BeNil(), "it has had its chance")
	tolerant.Name = "seed-5"
	g.Expect(x.find(tolerant, broke).Number).To(Equal(3), "what never broke again explains no other")
}

// What is hard to shrink leaves time for the rest. An exploration ends when its time is over, and not long after if it
// has just found something.
func TestShrinkingEnds(t *testing.T) {
	g := NewWithT(t)
	now := time.Now()
	x := &exploration{began: now, length: time.Hour}
	for after, until := range map[time.Duration]time.Duration{
		time.Minute: 16 * time.Minute, 48 * time.Minute: time.Hour, 59 * time.Minute: 69 * time.Minute,
	} {
		g.Expect(x.shrinksUntil(now.Add(after))).To(Equal(now.Add(until)), after.String())
	}
}

// A shard has its own seeds, and a run that goes on begins after those that were played.
func TestSeedsAreDealtAndGoOn(t *testing.T) {
	g := NewWithT(t)
	folder := t.TempDir()
	g.Expect(os.WriteFile(filepath.Join(folder, playedFile), []byte(
		`{"seed": 4, "verdict": "passed", "features": ["pods: CPU"], "transitions": ["a > b"]}`+"\n"+`{"seed": 5, "ver`), 0o600,
	)).To(Succeed())
	x := &exploration{
		Config: e2e.Config{Shard: e2e.Shard{Part: 2, Of: 3}}, adapter: providers.Named("kwok"), folder: folder, next: 1,
		seen: map[string]bool{}, features: map[string]bool{}, histories: map[string]bool{},
	}
	g.Expect(x.readPlayed()).To(Succeed())
	g.Expect(x.played).To(HaveLen(1))
	x.count(played{Seed: 5, History: "a"})
	x.count(played{Seed: 6, History: "a"})
	g.Expect(x.progress()).To(And(ContainSubstring("3 sequences"), ContainSubstring("1 different histories")))
	x.played, x.next = x.played[:1], 5
	g.Expect(x.seen).To(HaveKey("a > b"))
	g.Expect([]int{x.draw().Seed, x.draw().Seed, x.draw().Seed}).To(Equal([]int{7, 10, 13}))
}

// What was found is written so that others can see and repeat it.
func TestWhatWasFoundIsWritten(t *testing.T) {
	g := NewWithT(t)
	q := draw.Draw(3, draw.Domain{}, nil)
	x := &exploration{folder: t.TempDir(), adapter: providers.Named("kwok"), began: time.Now(), provider: "kwok"}
	f := &found{
		Number: 1, Signature: "limits are kept", Original: q, Shortest: q, Repeated: 10, Again: 7, Seeds: []int{3},
		Outcome: report.Outcome{Reason: "an invariant is broken: limits are kept", History: "a.jsonl.gz"},
	}
	x.found = append(x.found, f)
	g.Expect(x.write(f)).To(Succeed())
	found := filepath.Join(x.folder, "found", "1")
	again, err := explore.Read(filepath.Join(found, "sequence.yaml"))
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(again.Actions).To(HaveLen(len(q.Actions)))
	for file, want := range map[string]string{
		"commands.sh": "kubectl apply --server-side", "sequence.go": "fixtures.NodePool().Called(",
		"README.md": "in 7 of 10 times",
	} {
		text, err := os.ReadFile(filepath.Join(found, file))
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(string(text)).To(ContainSubstring(want))
	}
	g.Expect(x.conclude()).To(MatchError("1 promise broke"))
	issue, err := os.ReadFile(filepath.Join(x.folder, issueFile))
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(string(issue)).To(And(ContainSubstring("# limits are kept"), ContainSubstring("kubectl apply --server-side"),
		ContainSubstring("REPLAY=found/1/sequence.yaml"), ContainSubstring("### Explored: kwok v1.")))

	resumed := &exploration{folder: x.folder}
	g.Expect(resumed.readFound()).To(Succeed())
	g.Expect(resumed.found).To(ConsistOf(HaveField("Signature", "limits are kept")), "a run that goes on knows it")
}
