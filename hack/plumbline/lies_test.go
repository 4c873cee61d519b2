package main

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/report"
)

func lyingSuites() []*e2e.Suite {
	drift := e2e.NewSuite("drift")
	e2e.Table(drift, map[string]string{"replaces": "replaces nodes", "keeps": "keeps nodes"}, func(name string) e2e.Spec {
		return e2e.Spec{Name: name, Run: func(context.Context, *e2e.Env) {}}
	})
	return []*e2e.Suite{drift}
}

func lieFiles(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		NewWithT(t).Expect(os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600)).To(Succeed())
	}
	return dir
}

const forgets = `
- name: forgets
  lie: Delete does nothing
  promise: an instance ends with its NodeClaim
  specs: [plumbline/lies/replaces]
`

func TestLiesAreLoaded(t *testing.T) {
	g := NewWithT(t)
	all, err := loadLies(lieFiles(t, map[string]string{
		"cloud.yaml": forgets,
		"releases.yaml": `
- name: static-runaway
  lie: a deleted static pool gets NodeClaims
  promise: it gets none
  specs: [plumbline/lies/keeps]
  karpenter: v1.9.0
  kept: v1.10.0
  issue: https://example.com/2840
  gates: {StaticCapacity: true}
`,
	}), lyingSuites())
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(all).To(HaveLen(2))
	g.Expect(all[0].Level).To(Equal("cloud"))
	g.Expect(all[1].gates()).To(Equal("StaticCapacity=true"))

	g.Expect(choose(all, "releases")).To(Equal(all[1:]))
	g.Expect(choose(all, "static-runaway,cloud,forgets")).To(Equal([]lie{all[1], all[0]}), "each once")
	_, err = choose(all, "forgts,cloud,nothing-like-it")
	g.Expect(err).To(MatchError("LIE=forgts: there is no such lie or level, did you mean forgets?\n" +
		"LIE=nothing-like-it: there is no such lie or level; the levels are cloud, releases, " +
		"and their lies are in providers/faulty/lies"))

	honest, lying, kept := trials(all)
	g.Expect(honest).To(HaveLen(1), "releases have twins of their own")
	g.Expect(honest[0].environ(nil, "/art")).
		To(ContainElements("LIE=", "PROVIDER=providers/faulty/adapter.yaml", "FOCUS=^(plumbline/lies/replaces)$"))
	g.Expect(lying).To(HaveLen(2))
	g.Expect(lying[0].environ(nil, "/art")).To(ContainElements("LIE=forgets", "KARPENTER="))
	g.Expect(lying[1].environ(nil, "/art")).
		To(ContainElements("LIE=", "KARPENTER=v1.9.0", "PROVIDER=kwok", "GATES=StaticCapacity=true"))
	g.Expect(kept).To(HaveLen(1))
	g.Expect(kept[0].environ(nil, "/art")).To(ContainElements("LIE=", "KARPENTER=v1.10.0", "PROVIDER=kwok"))
}

func TestTheTableOfRecallIsStable(t *testing.T) {
	g := NewWithT(t)
	forgets := lie{
		Name: "forgets", Lie: "Delete does nothing", Promise: "an instance ends", Specs: []string{"drift/replaces"},
		Karpenter: "v1.9.0", Kept: "v1.10.0", Issue: "https://example.com/1", Level: releases,
	}
	r := newLiesReport([]lie{forgets}, false)
	r.addLie(trial{name: "forgets"}, result{outcomes: []report.Outcome{{
		ID: "drift/replaces", Verdict: report.Failed, Reason: "waited 1m56.7s for 0 nodes of pool poolfqlln, app-x2b4c",
	}}})
	r.finish(nil)
	all := []lie{
		{Name: "late", Level: releases},
		{Name: "cloud", Level: "cloud"},
		forgets,
		{Name: "new", Level: releases, Issue: "https://example.com/2", Explored: "v1.9.0"},
	}
	before := "| ✓ | [forgets](x): as it was | |\n| ✗ | [gone](x): no lie any more | |\n| ✓ | [late](x): as it was | |\n"
	g.Expect(r.recallTable(all, before)).To(HaveSuffix("2 of 2 are caught.\n\n" +
		"[`make explore`](../README.md#worlds-that-nobody-wrote) found 1 of them by itself, in sequences that nobody wrote:\n" +
		"[new](https://example.com/2) in v1.9.0.\n\n" +
		"| | What went wrong | Promise | Broken in | Kept in | Specs | Caught by |\n|---|---|---|---|---|---|---|\n" +
		"| ✓ | [late](x): as it was | |\n" +
		"| ✓ | [forgets](https://example.com/1): Delete does nothing | an instance ends | v1.9.0 | v1.10.0 " +
		"| drift/replaces | waited for 0 nodes of pool pool, app |\n"))
}

func TestMistakesInLiesAreSaidTogether(t *testing.T) {
	g := NewWithT(t)
	_, err := loadLies(lieFiles(t, map[string]string{
		"cloud.yaml": forgets + forgets,
		"core.yaml":  "- {name: x, lie: y, promise: z, specs: [plumbline/lies/kepes], karpenter: v1.9.0}\n- {name: w}\n",
		"more.yaml":  "- {nme: x}\n",
	}), lyingSuites())
	for _, want := range []string{
		`cloud.yaml: "forgets": there is another lie of that name`,
		`core.yaml: "x": there is no spec plumbline/lies/kepes, did you mean plumbline/lies/keeps?`,
		`karpenter is what lies of releases.yaml have`,
		`core.yaml: "w": name, lie and promise are needed`, `no spec claims to catch it`,
		`more.yaml: error unmarshaling JSON: while decoding JSON: json: unknown field "nme"`,
	} {
		g.Expect(err).To(MatchError(ContainSubstring(want)))
	}
	_, err = loadLies(t.TempDir(), lyingSuites())
	g.Expect(err).To(MatchError(ContainSubstring("no lies in")))
}

func TestTheLiesThereAre(t *testing.T) {
	g := NewWithT(t)
	all, err := loadLies(filepath.Join("..", "..", faulty, "lies"), allSuites())
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(len(all)).To(BeNumerically(">=", 40))
}

func TestATrialReplacesWhatSelects(t *testing.T) {
	env := trial{provider: "p.yaml", lie: "forgets", specs: []string{"drift/a", "drift/b"}, procs: "1"}.
		environ([]string{"HOME=/root", "FOCUS=x", "LIE=cloud", "PROCS=4"}, "/art")
	NewWithT(t).Expect(env).To(ContainElements("HOME=/root", "FOCUS=^(drift/a|drift/b)$", "LIE=forgets", "PROCS=1",
		"ARTIFACTS=/art", "KARPENTER="))
	NewWithT(t).Expect(env).NotTo(ContainElements("FOCUS=x", "LIE=cloud"))
}

func TestTheVerdictOnLies(t *testing.T) {
	outcome := func(spec string, v report.Verdict) report.Outcome {
		return report.Outcome{
			ID: spec, Verdict: v, Reason: "because", Took: 3 * time.Second,
			Invariants: []report.Judged{{
				Check:   "the ledger closes",
				Verdict: map[bool]string{true: "broken", false: "holds"}[v == report.Failed], Tested: 1,
			}},
		}
	}
	l := lie{Name: "forgets", Level: "cloud", Specs: []string{"drift/replaces", "drift/keeps"}}
	both := func(a, b report.Verdict) result {
		return result{outcomes: []report.Outcome{outcome("drift/replaces", a), outcome("drift/keeps", b)}}
	}
	for name, c := range map[string]struct {
		lying, honest result
		says, fails   string
	}{
		"caught by both": {
			both(report.Failed, report.Failed), both(report.Passed, report.Passed),
			"drift/replaces: the ledger closes", "",
		},
		"a known failure counts": {
			both(report.Failed, report.Known), both(report.Passed, report.Passed),
			"1 of 1 lies caught", "",
		},
		"missed by one": {
			both(report.Failed, report.Passed), both(report.Passed, report.Passed),
			"! drift/keeps (passed)", "forgets: not caught",
		},
		"infra catches nothing": {
			both(report.Infra, report.Vacuous), both(report.Passed, report.Passed), "nothing",
			"forgets: not caught",
		},
		"honest is red": {
			both(report.Failed, report.Failed), both(report.Passed, report.Vacuous),
			"honest: 2 specs, 1 red", "the honest provider is red in 1 specs",
		},
		"the run broke off": {
			result{err: errors.New("no disk")},
			both(report.Passed, report.Passed), "! no disk",
			"forgets: not caught",
		},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			r := newLiesReport([]lie{l}, true)
			r.addLie(l.lying(), c.lying)
			honest := l.lying()
			honest.lie = ""
			r.addHonest(honest, c.honest)
			r.finish(l.Specs)
			var out bytes.Buffer
			g.Expect(r.print(&out)).To(Succeed())
			g.Expect(out.String()).To(ContainSubstring(c.says))
			if c.fails == "" {
				g.Expect(r.verdict()).To(Succeed())
				return
			}
			g.Expect(r.verdict()).To(MatchError(ContainSubstring(c.fails)))
		})
	}
}

func TestTooManyUnprovenSpecsFail(t *testing.T) {
	g := NewWithT(t)
	l := lie{Name: "forgets", Specs: []string{"drift/replaces"}}
	caughtOne := result{outcomes: []report.Outcome{{ID: "drift/replaces", Verdict: report.Failed}}}
	for _, complete := range []bool{true, false} {
		r := newLiesReport([]lie{l}, complete)
		r.addLie(l.lying(), caughtOne)
		r.finish([]string{"drift/replaces", "drift/keeps"})
		g.Expect(r.Unproven).To(Equal([]string{"drift/keeps"}))
		if complete {
			g.Expect(r.verdict()).To(MatchError("1 of 2 specs are unproven; at most a tenth may be"))
		} else {
			g.Expect(r.verdict()).To(Succeed())
		}
	}
}
