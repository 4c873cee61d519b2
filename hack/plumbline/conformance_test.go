package main

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"github.com/plumbline-e2e/plumbline/e2e/report"
)

// invented returns a run that breaks no rule, of a provider that there isn't.
func invented(version, kubernetes string) report.Conformance {
	return report.Conformance{
		Format: report.Format, Plumbline: "v0.3.0", Provider: "acme", Version: version, Adapter: "adapter.yaml",
		Started: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC), Took: "9m0s",
		Controller: report.Controller{Image: "acme.example/karpenter:1@sha256:2", Released: true},
		Clusters: []report.Cluster{
			{Backend: "local", Kubernetes: kubernetes, Karpenter: "v1.14.0", Image: "sha256:1", Speed: "auto"},
		},
		Gates: map[string]bool{"NodeRepair": true, "StaticCapacity": false}, Complete: true, Green: true,
		Counts: map[report.Verdict]int{report.Passed: 1, report.Known: 1, report.Skipped: 2},
		Specs: []report.Proof{
			{ID: "drift/one", Verdict: report.Passed, Tested: 3, Retried: "etcd died"},
			{
				ID: "drift/two", Verdict: report.Known, Issue: "https://acme.example/1",
				Reason: "it is slow (https://acme.example/1)",
			},
			{ID: "cloud/b", Verdict: report.Skipped, Reason: "no cloud"},
			{ID: "cloud/a", Verdict: report.Skipped, Reason: "no cloud"},
		},
	}
}

// conformanceTree returns a folder of providers with a page, and with runs in their places.
func conformanceTree(t *testing.T, runs ...report.Conformance) string {
	t.Helper()
	g := NewWithT(t)
	providers := t.TempDir()
	page := "# Rules\n" + conformanceBeginning + "old\n" + tableEnd + "the end\n"
	g.Expect(os.WriteFile(filepath.Join(providers, conformancePage), []byte(page), 0o600)).To(Succeed())
	for _, c := range runs {
		file := filepath.Join(providers, committedRun{Conformance: c}.place())
		g.Expect(os.MkdirAll(filepath.Dir(file), 0o700)).To(Succeed())
		g.Expect(c.Write(file)).To(Succeed())
	}
	return providers
}

func TestTheTableOfRuns(t *testing.T) {
	g := NewWithT(t)
	providers := conformanceTree(t, invented("v1.9.0", "v1.36.3"), invented("v1.10.0", "v1.36.3"),
		invented("v1.10.0", "v1.35.7"))
	files, err := conformanceFiles(providers)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(files).To(HaveLen(2))
	page := files[filepath.Join(providers, conformancePage)]
	g.Expect(page).To(HavePrefix("# Rules\n" + conformanceBeginning +
		`| Provider | Release | Kubernetes 1.36 | Kubernetes 1.35 |
|---|---|---|---|
| acme | v1.10.0 | [1 passed, 1 known, 2 skipped](acme/conformance/v1.10.0-k8s-1.36.yaml); gates: NodeRepair | ` +
		`[1 passed, 1 known, 2 skipped](acme/conformance/v1.10.0-k8s-1.35.yaml); gates: NodeRepair |
| acme | v1.9.0 | [1 passed, 1 known, 2 skipped](acme/conformance/v1.9.0-k8s-1.36.yaml); gates: NodeRepair |  |

### acme v1.10.0 on Kubernetes 1.36

- What ran: image ` + "`acme.example/karpenter:1@sha256:2`, `sha256:1`" + `
- By: Plumbline v0.3.0, adapter ` + "`adapter.yaml`" + `, 4 specs, on 2026-01-02, in 9m0s
- On: local, Kubernetes v1.36.3, speed auto, with Karpenter v1.14.0

<details><summary>1 known failures</summary>

- it is slow ([known](https://acme.example/1)): drift/two

</details>
<details><summary>2 skipped</summary>

- no cloud: cloud/a, cloud/b

</details>
<details><summary>1 run again, since the first time was infra</summary>

- etcd died: drift/one

</details>
`))
	g.Expect(page).To(HaveSuffix(tableEnd + "the end\n"))
	g.Expect(files[filepath.Join(providers, "acme", "conformance", "badge.json")]).To(MatchJSON(`{"schemaVersion": 1,
		"label": "Plumbline", "color": "green",
		"message": "v1.10.0 on Kubernetes 1.36: 1 passed, 1 known, 2 skipped"}`))
}

func TestTheTableIsCheckedAndWritten(t *testing.T) {
	g := NewWithT(t)
	run := invented("v1.9.0", "v1.36.3")
	providers := conformanceTree(t, run)
	badge := filepath.Join(providers, "acme", "conformance", badgeFile)
	wanted := func() map[string]string {
		files, err := conformanceFiles(providers)
		g.Expect(err).NotTo(HaveOccurred())
		return files
	}
	g.Expect(checkFiles(wanted())).To(MatchError(And(ContainSubstring(conformancePage), ContainSubstring(badge),
		HaveSuffix("; make conformance-table"))))
	g.Expect(writeFiles(wanted())).To(Succeed())
	g.Expect(checkFiles(wanted())).To(Succeed())

	g.Expect(os.Remove(filepath.Join(providers, committedRun{Conformance: run}.place()))).To(Succeed())
	g.Expect(checkFiles(wanted())).To(MatchError(ContainSubstring(badge)), "a badge without a run")
	g.Expect(writeFiles(wanted())).To(Succeed())
	g.Expect(badge).NotTo(BeAnExistingFile())
	g.Expect(checkFiles(wanted())).To(Succeed())
	g.Expect(os.ReadFile(filepath.Join(providers, conformancePage))).To(ContainSubstring("No run is committed yet.\n"))
}

func TestARunIsAddedAsItIs(t *testing.T) {
	g := NewWithT(t)
	providers, artifacts := conformanceTree(t), t.TempDir()
	run := invented("v1.9.0", "v1.36.3")
	g.Expect(run.Write(filepath.Join(artifacts, "conformance.yaml"))).To(Succeed())
	g.Expect(addRun(providers, artifacts)).To(Succeed())
	runs, err := readCommitted(providers)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(runs).To(HaveLen(1))
	g.Expect(runs[0].Conformance).To(Equal(run))

	run.Version, run.Green = "v1.10.0", false
	g.Expect(run.Write(filepath.Join(artifacts, "conformance.yaml"))).To(Succeed())
	g.Expect(addRun(providers, artifacts)).To(MatchError(ContainSubstring("green: the run is red")))
	g.Expect(readCommitted(providers)).To(HaveLen(1))
	g.Expect(addRun(providers, filepath.Join(artifacts, "nowhere"))).To(MatchError(ContainSubstring("nowhere")))
}

func TestRulesForARun(t *testing.T) {
	NewWithT(t).Expect(brokenRules(invented("v1.9.0", "v1.36.3"))).To(BeEmpty())
	for want, change := range map[string]func(*report.Conformance){
		`provider: "../acme" is no provider's name`: func(c *report.Conformance) { c.Provider = "../acme" },
		`version: "" is no release`:                 func(c *report.Conformance) { c.Version = "" },
		"version: \"v1.15.1-0.20260819221709-6e7eab7a0f48\" is no release": func(c *report.Conformance) {
			c.Version = "v1.15.1-0.20260819221709-6e7eab7a0f48"
		},
		"plumbline: the version of the harness is missing": func(c *report.Conformance) { c.Plumbline = "" },
		"plumbline: v0.3.0+dirty had uncommitted changes":  func(c *report.Conformance) { c.Plumbline += "+dirty" },
		"plumbline: example.com/fork@v1.0.0 is a fork": func(c *report.Conformance) {
			c.Plumbline = "example.com/fork@v1.0.0"
		},
		"controller: a folder, . is not as released": func(c *report.Conformance) {
			c.Controller = report.Controller{Source: "a folder, ."}
		},
		"selection: FOCUS=drift left out specs": func(c *report.Conformance) {
			c.Selection, c.Complete = "FOCUS=drift", false
		},
		"complete: the run had not all suites": func(c *report.Conformance) { c.Complete = false },
		"clusters: there is none":              func(c *report.Conformance) { c.Clusters = nil },
		"clusters: the image's digest is missing": func(c *report.Conformance) {
			c.Clusters[0].Image = ""
		},
		`clusters: "1.36" is no version`: func(c *report.Conformance) { c.Clusters[0].Kubernetes = "1.36" },
		"clusters: one Kubernetes and one image are wanted": func(c *report.Conformance) {
			other := c.Clusters[0]
			other.Image = "sha256:2"
			c.Clusters = append(c.Clusters, other)
		},
		"green: the run is red":                         func(c *report.Conformance) { c.Green = false },
		"notReached: 2 specs had not ended":             func(c *report.Conformance) { c.NotReached = 2 },
		"counts: 3 passed, but there are 1 such specs":  func(c *report.Conformance) { c.Counts[report.Passed] = 3 },
		"drift/two: a known failure needs a reason and": func(c *report.Conformance) { c.Specs[1].Issue = "" },
		"cloud/b: it was skipped without a reason":      func(c *report.Conformance) { c.Specs[2].Reason = "" },
		"cloud/b: is there twice":                       func(c *report.Conformance) { c.Specs[3].ID = "cloud/b" },
	} {
		t.Run(want, func(t *testing.T) {
			g := NewWithT(t)
			c := invented("v1.9.0", "v1.36.3")
			change(&c)
			broken := brokenRules(c)
			g.Expect(broken).To(HaveLen(1))
			g.Expect(broken[0]).To(HavePrefix(want))
		})
	}
}

func TestAFailureIsNamed(t *testing.T) {
	c := invented("v1.9.0", "v1.36.3")
	c.Specs[0].Verdict, c.Specs[0].Reason = report.Failed, "it broke"
	NewWithT(t).Expect(brokenRules(c)).To(ContainElement("drift/one: failed: it broke"))
}

func TestAllMistakesOfAllRunsAreListed(t *testing.T) {
	g := NewWithT(t)
	red, older := invented("v1.9.0", "v1.36.3"), invented("v1.8.0", "v1.36.3")
	red.Green, red.Plumbline, older.Format = false, "", 0
	providers := conformanceTree(t, red, older)
	folder := filepath.Join(providers, "acme", "conformance")
	elsewhere := filepath.Join(providers, "bcme", "conformance")
	g.Expect(os.Mkdir(filepath.Dir(elsewhere), 0o700)).To(Succeed())
	g.Expect(os.Mkdir(elsewhere, 0o700)).To(Succeed())
	same := invented("v1.9.0", "v1.36.3")
	g.Expect(same.Write(filepath.Join(elsewhere, "a.yaml"))).To(Succeed())
	g.Expect(os.WriteFile(filepath.Join(folder, "notes.md"), []byte("complete: yes, mostly: true"), 0o600)).To(Succeed())

	_, err := conformanceFiles(providers)
	for _, want := range []string{
		folder + "/v1.9.0-k8s-1.36.yaml: green: the run is red",
		folder + "/v1.9.0-k8s-1.36.yaml: plumbline: the version of the harness is missing",
		folder + "/v1.8.0-k8s-1.36.yaml: format 0 is older than 1",
		folder + "/notes.md: not a conformance.yaml",
		elsewhere + "/a.yaml: a run of acme v1.9.0 on Kubernetes 1.36 belongs into " + folder + "/v1.9.0-k8s-1.36.yaml",
		elsewhere + "/a.yaml: is about the same as " + folder + "/v1.9.0-k8s-1.36.yaml",
	} {
		g.Expect(err).To(MatchError(ContainSubstring(want)))
	}
}
