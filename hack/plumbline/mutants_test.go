package main

import (
	"os"
	"path/filepath"
	"regexp"
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"github.com/plumbline-e2e/plumbline/e2e"
)

func someMutants(folder string) *mutants {
	return &mutants{
		mutantsConfig: mutantsConfig{n: 3, seed: 1, specs: 40}, folder: folder,
		all: []mutant{
			{
				ID: 1, Name: "queue.go:add:negate", Package: "pkg/a", File: "queue.go", Function: "add", Operator: "negate",
				Before: "ok",
			},
			{
				ID: 2, Name: "queue.go:add:drop", Package: "pkg/a", File: "queue.go", Function: "add", Operator: "drop",
				Before: "q.add(x)",
			},
			{ID: 3, Name: "queue.go:remove:drop", Package: "pkg/a", File: "queue.go", Function: "remove", Operator: "drop"},
			{ID: 4, Name: "taint.go:taint:drop", Package: "pkg/b", File: "taint.go", Function: "taint", Operator: "drop"},
		},
		coverage: map[string]covered{
			"drift/slow":  {Took: 9, Mutants: []int{1, 2, 3}},
			"drift/quick": {Took: 1, Mutants: []int{1, 2, 3}},
			"taints/all":  {Took: 1, Mutants: []int{1, 4}},
		},
		excluded: because("the API server sets it", `taint\.go:taint:drop: `),
		results:  map[string]mutantResult{},
	}
}

func because(why, pattern string) []reason {
	return []reason{{Why: why, Mutants: []string{pattern}, any: regexp.MustCompile(pattern)}}
}

func TestTheDrawCanBeRepeatedAndDealt(t *testing.T) {
	g := NewWithT(t)
	m := someMutants("")
	drawn := m.draw()
	g.Expect(drawn).To(HaveLen(3))
	g.Expect(drawn).NotTo(ContainElement(HaveField("Name", "taint.go:taint:drop")), "it is excluded")
	g.Expect(m.draw()).To(Equal(drawn))
	var dealt []mutant
	for part := 1; part <= 2; part++ {
		m.Shard = e2e.Shard{Part: part, Of: 2}
		dealt = append(dealt, m.draw()...)
	}
	g.Expect(dealt).To(ConsistOf(drawn))
	m.Shard, m.excluded, m.n = e2e.Shard{}, nil, 4
	all := m.draw()
	m.excluded, m.n = because("nobody sees it", regexp.QuoteMeta(all[1].Name)+":"), 2
	g.Expect(m.draw()).To(Equal([]mutant{all[0], all[2]}), "the next one takes its place")
	m.where, m.excluded = regexp.MustCompile("remove"), nil
	g.Expect(m.draw()).To(HaveLen(1))
}

func TestTheMostTellingSpecsComeFirst(t *testing.T) {
	g := NewWithT(t)
	m := someMutants("")
	g.Expect(m.specsReaching(m.all[0])).To(Equal([]string{"drift/quick", "drift/slow", "taints/all"}))
	m.results["queue.go:add:drop"] = mutantResult{Verdict: mutantCaught, By: "taints/all"}
	g.Expect(m.specsReaching(m.all[0])).To(Equal([]string{"taints/all", "drift/quick", "drift/slow"}))
	g.Expect(m.specsReaching(m.all[3])).To(Equal([]string{"taints/all"}))
}

func TestWhatWasReachedBelongsToTheSpecOfThatTime(t *testing.T) {
	g := NewWithT(t)
	folder := t.TempDir()
	g.Expect(os.Mkdir(filepath.Join(folder, "worker-1.1"), 0o700)).To(Succeed())
	for name, text := range map[string]string{
		"a_controller.log": "mutants 1000 3 1\n{\"level\":\"INFO\"}\nmutants 2000 2\nmutants 9100 4\nmutants 9250 5",
		"b_controller.log": "mutants 1500 1 9\nmutants 2100",
	} {
		g.Expect(os.WriteFile(filepath.Join(folder, "worker-1.1", name), []byte(text), 0o600)).To(Succeed())
	}
	log, err := readReached(folder)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(log.between(time.UnixMilli(1000), time.UnixMilli(2000))).To(Equal([]int{1, 2, 3, 9}))
	g.Expect(log.between(time.UnixMilli(5000), time.UnixMilli(8000))).To(BeEmpty())
}

func TestTheReportOnMutants(t *testing.T) {
	g := NewWithT(t)
	m := someMutants(t.TempDir())
	g.Expect(m.readResults()).To(Succeed(), "there are none yet")
	lines := `{"name":"queue.go:add:negate","verdict":"caught","by":"drift/quick","why":"it is broken","reach":3}
{"name":"queue.go:add:drop","verdict":"survived","saw":["drift/quick","drift/slow"],"reach":2}
{"name":"queue.go:remove:drop","verdict":"unreached"}
{"name":"queue.go:rem`
	g.Expect(os.WriteFile(filepath.Join(m.folder, resultsFile), []byte(lines), 0o600)).To(Succeed())
	g.Expect(m.readResults()).To(Succeed())
	m.survive = because("no node has two", `queue\.go:add:drop: `)
	text := m.report(m.draw())
	for _, want := range []string{
		"1 of 3 mutants caught (33 %), 1 survived, 1 make no difference to any spec, 0 undecided. Seed 1, 3 of 4 drawn.",
		"| pkg/a | 3 | 1 | 1 | 1 | 0 | 33 % |", "| drop | 2 | 0 | 1 | 1 | 0 | 0 % |",
		"3 of 4 were drawn from. The others:\n\n- 1: the API server sets it\n",
		"- q.add(x)\n+ // nothing\n", "Why: no node has two. Seen by drift/quick, drift/slow.",
		"- queue.go remove: `drop`, line 0: nobody has looked at it\n",
	} {
		g.Expect(text).To(ContainSubstring(want))
	}
}

func TestTheReasonsOfMutants(t *testing.T) {
	g := NewWithT(t)
	m := someMutants("")
	g.Expect(readReasons(filepath.Join("..", "..", excludedFile), &m.excluded)).To(Succeed())
	g.Expect(readReasons(filepath.Join("..", "..", survivorsFile), &m.survive)).To(Succeed())
	g.Expect(whyOf(m.excluded, mutant{
		Name:   "pkg/controllers/disruption/drift.go:*Drift.ComputeCommands:drop:4",
		Before: "d.recorder.Publish(disruptionevents.Blocked(\n\tcandidate.Node))",
	})).To(ContainSubstring("said of decisions"))
	g.Expect(whyOf(m.excluded, m.all[0])).To(BeEmpty())
	for text, want := range map[string]string{
		"- {why: '', mutants: [a]}": "a reason needs words", "- {why: a, mutants: ['(']}": "missing closing",
		"- {who: a}": "unknown field",
	} {
		file := filepath.Join(t.TempDir(), "reasons.yaml")
		g.Expect(os.WriteFile(file, []byte(text), 0o600)).To(Succeed())
		g.Expect(readReasons(file, new([]reason))).To(MatchError(ContainSubstring(want)))
	}
}

func TestMistakesInTheVariablesOfMutantsAreSaidTogether(t *testing.T) {
	g := NewWithT(t)
	for name, value := range map[string]string{
		"N": "many", "SHARD": "5/4", "MUTANT": "(", "FOCUS": "drift", "CLUSTER": "kind", "PROVIDER": "kwok", "GATES": "",
		"ARTIFACTS": t.TempDir(),
	} {
		t.Setenv(name, value)
	}
	_, _, err := mutantsFromEnv(filepath.Join(t.TempDir(), "conformance.test"))
	for _, want := range []string{
		"N=many: not a whole number from 1 up", "SHARD=5/4: say which part of how many", "MUTANT=(: not a pattern",
		"FOCUS=drift: mutants are made of", "CLUSTER=kind: mutants write down", "run `make mutants`",
	} {
		g.Expect(err).To(MatchError(ContainSubstring(want)))
	}
}

func TestMutantsLearnFromTheSpecsOfTheirRun(t *testing.T) {
	g := NewWithT(t)
	missing := (&coverage{Specs: map[string]covered{}, Red: []string{"chaos/refused"}}).missing()
	g.Expect(missing).To(HaveKey("drift"))
	g.Expect(missing["chaos"]).NotTo(Or(BeEmpty(), ContainElement("chaos/refused")))
	g.Expect(missing).NotTo(HaveKey("upgrade"), "which has a run of its own")
}
