package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/report"
)

// runOf returns a complete run that has ended with these outcomes.
func runOf(name string, outcomes ...report.Outcome) jobRun {
	r := jobRun{Job: job{"name": name, "id": name}, Outcomes: outcomes, Ended: true}
	r.Add(outcomes)
	r.Complete = true
	r.Green = r.Counts[report.Failed]+r.Counts[report.Infra]+r.Counts[report.Vacuous] == 0
	return r
}

func outcomeOf(id string, verdict report.Verdict, reason string) report.Outcome {
	return report.Outcome{
		Provider: "kwok", ID: id, Suite: "drift:", Spec: "replaces | nodes", Verdict: verdict, Reason: reason,
		Took: time.Minute, Real: 1500 * time.Millisecond,
	}
}

func TestACommentBeginsWithWhatIsRedAndWhatChanged(t *testing.T) {
	g := NewWithT(t)
	one := runOf("one", outcomeOf("drift/a", report.Passed, ""),
		outcomeOf("drift/b", report.Failed, "<b> by @someone\nmore"),
		outcomeOf("drift/c", report.Skipped, "no zones"), outcomeOf("drift/d", report.Known, "slow"),
		outcomeOf("drift/f", report.Infra, "etcd died"))
	two := runOf("two", outcomeOf("drift/a", report.Passed, ""), outcomeOf("drift/b", report.Passed, ""),
		outcomeOf("drift/d", report.Known, "slow"))
	three := jobRun{Job: job{"name": "three", "id": "three"}}
	before := runOf("one", outcomeOf("drift/b", report.Passed, ""), outcomeOf("drift/d", report.Known, "slow"),
		outcomeOf("drift/e", report.Passed, ""))
	base := base{Commit: "0123456789", Runs: map[string]report.Conformance{"one": before.Conformance}}

	g.Expect(comment("conformance", []jobRun{one, two, three}, base)).To(Equal(`<!-- plumbline: conformance -->
### conformance: 2 of 3 runs red

| Suite | Spec | Result | Duration | Notes |
|---|---|---|---|---|
| drift | replaces \| nodes (drift/b) | failed | 1.5s | &lt;b> by @<!-- -->someone; in one |
| drift | replaces \| nodes (drift/f) | infra | 1.5s | etcd died; in one |

Changed since the default branch, 0123456:

- drift/b: failed, was passed in one
- drift/e: not there, was passed in one

| Run | Specs |
|---|---|
| ✗ one | 1 passed, 2 failed (1 infra among them), 1 known, 1 skipped |
| ✓ two | 2 passed, 0 failed, 1 known |
| ✗ three | nothing was tested; the job's log says why |

<details><summary>1 known</summary>

| Suite | Spec | Result | Duration | Notes |
|---|---|---|---|---|
| drift | replaces \| nodes (drift/d) | known | 1.5s | slow; in one; two |

</details>

<details><summary>2 passed</summary>

| Suite | Spec | Result | Duration | Notes |
|---|---|---|---|---|
| drift | replaces \| nodes (drift/a) | passed | 1.5s | in one; two |
| drift | replaces \| nodes (drift/b) | passed | 1.5s | in two |

</details>

<details><summary>1 reason to skip specs</summary>

| Reason | Specs |
|---|---|
| no zones | 1 |

</details>

`))
}

func TestACommentWithoutChanges(t *testing.T) {
	g := NewWithT(t)
	run := runOf("one", outcomeOf("drift/a", report.Passed, ""))
	g.Expect(comment("x", []jobRun{run}, base{})).To(And(ContainSubstring("### x: 1 run green\n"),
		ContainSubstring("There is no run of the default branch to compare with.\n"),
		ContainSubstring("drift/a) | passed | 1.5s |  |")))
	same := base{Runs: map[string]report.Conformance{"one": run.Conformance}}
	g.Expect(comment("x", []jobRun{run}, same)).To(ContainSubstring("\nNothing changed since the default branch.\n"))
}

func TestACommentIsCutToWhatGitHubTakes(t *testing.T) {
	g := NewWithT(t)
	var outcomes []report.Outcome
	for i := range 2000 {
		outcomes = append(outcomes, outcomeOf(fmt.Sprintf("drift/%04d", i), report.Passed, ""))
	}
	outcomes = append(outcomes, outcomeOf("drift/red", report.Failed, strings.Repeat("long ", 200)),
		outcomeOf("drift/skipped", report.Skipped, strings.Repeat("no ", 200)))
	text := comment("x", []jobRun{runOf("one", outcomes...)}, base{})
	g.Expect(len(text)).To(And(BeNumerically("<=", most), BeNumerically(">", most-2*reserve)))
	g.Expect(strings.Count(text, "<details>")).To(Equal(strings.Count(text, "</details>")))
	g.Expect(text).To(ContainSubstring("drift/red"))
	shown := strings.Count(text, "| passed |")
	g.Expect(text).To(HaveSuffix(fmt.Sprintf("Without %d rows that GitHub has no room for in a comment, of 65536 "+
		"characters; index.html in the artifacts has all.\n", 2000-shown+1)))
}

func TestRunsAreReadFromTheFoldersOfTheirJobs(t *testing.T) {
	g := NewWithT(t)
	folder := t.TempDir()
	write := func(job, file, text string) {
		g.Expect(os.MkdirAll(filepath.Join(folder, job), 0o755)).To(Succeed())
		g.Expect(os.WriteFile(filepath.Join(folder, job, file), []byte(text), 0o600)).To(Succeed())
	}
	line, err := json.Marshal(report.Message{Outcome: new(outcomeOf("drift/a", report.Passed, ""))})
	g.Expect(err).NotTo(HaveOccurred())
	write("whole", "progress.jsonl", string(line)+"\n")
	write("whole", e2e.ConformanceFile, "green: true\nspecs: [{id: drift/a, verdict: passed}]\n")
	write("cut", "progress.jsonl", string(line)+"\n")
	write(".", "commit", "abc\n")
	jobs := []job{{"id": "whole", "name": "whole"}, {"id": "cut", "name": "cut"}, {"id": "none", "name": "none"}}

	runs, err := readRuns(folder, jobs)
	g.Expect(err).NotTo(HaveOccurred())
	text := comment("x", runs, base{})
	g.Expect(text).To(And(ContainSubstring("2 of 3 runs red"), ContainSubstring("| ✓ whole | 1 passed, 0 failed |"),
		ContainSubstring("| ✗ cut | 1 passed, 0 failed; it was cut off |"),
		ContainSubstring("| ✗ none | nothing was tested")))

	before, err := readBase(folder, jobs)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(before.Commit).To(Equal("abc"))
	g.Expect(before.Runs).To(And(HaveLen(1), HaveKey("whole")))
	before, err = readBase(t.TempDir(), jobs)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(before.Runs).To(BeEmpty())

	write("whole", e2e.ConformanceFile, "green: [")
	_, err = readRuns(folder, jobs)
	g.Expect(err).To(MatchError(ContainSubstring("whole/conformance.yaml")))
}

// comments is GitHub's list of the comments on pull request 7, and what was asked of it.
type comments struct {
	list  []map[string]any
	calls []string
}

func (c *comments) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Header.Get("Authorization") != "Bearer secret" {
		http.Error(w, "who are you?", http.StatusUnauthorized)
		return
	}
	if r.Method == http.MethodGet {
		var page, size int
		_, _ = fmt.Sscan(r.URL.Query().Get("page"), &page)
		_, _ = fmt.Sscan(r.URL.Query().Get("per_page"), &size)
		first := min((page-1)*size, len(c.list))
		_ = json.NewEncoder(w).Encode(c.list[first:min(first+size, len(c.list))])
		return
	}
	var sent struct{ Body string }
	_ = json.NewDecoder(r.Body).Decode(&sent)
	c.calls = append(c.calls, r.Method+" "+r.URL.Path+" "+sent.Body)
}

func TestTheCommentOfTheRunBeforeIsWrittenOver(t *testing.T) {
	g := NewWithT(t)
	github := &comments{}
	server := httptest.NewServer(github)
	defer server.Close()
	p := pull{API: server.URL, Repository: "acme/karpenter", Number: "7", Token: "secret"}
	body := marker("conformance") + "all is well\n"
	add := func(id int, login, body string) {
		github.list = append(github.list, map[string]any{"id": id, "body": body, "user": map[string]string{"login": login}})
	}
	add(1, "somebody", marker("conformance")+"quoted")
	add(2, botLogin, "from another workflow, of "+marker("conformance"))
	add(3, botLogin, marker("conformance-kind")+"another call")

	g.Expect(p.post(t.Context(), body)).To(Succeed())
	g.Expect(github.calls).To(Equal([]string{"POST /repos/acme/karpenter/issues/7/comments " + body}))

	for i := range 150 {
		add(100+i, "somebody", "me too")
	}
	add(9, botLogin, strings.ReplaceAll(marker("conformance"), "\n", "\r\n")+"of the run before")
	github.calls = nil
	g.Expect(p.post(t.Context(), body)).To(Succeed())
	g.Expect(github.calls).To(Equal([]string{"PATCH /repos/acme/karpenter/issues/comments/9 " + body}))

	g.Expect(p.post(t.Context(), "all is well")).To(MatchError(ContainSubstring("must begin with its marker")))
	p.Token = "wrong"
	g.Expect(p.post(t.Context(), body)).To(MatchError(ContainSubstring("401 Unauthorized: who are you?")))
}
