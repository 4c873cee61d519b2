package main

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/mod/module"
	"golang.org/x/mod/semver"
	"k8s.io/apimachinery/pkg/util/validation"
	"sigs.k8s.io/yaml"

	"github.com/plumbline-e2e/plumbline/e2e/report"
)

// committedRun is a run whose conformance.yaml is committed.
type committedRun struct {
	report.Conformance
	file string // its path
}

// minor returns the minor version of Kubernetes, such as 1.36.
func (r committedRun) minor() string {
	if len(r.Clusters) == 0 {
		return ""
	}
	return strings.TrimPrefix(semver.MajorMinor(r.Clusters[0].Kubernetes), "v")
}

// place returns the path of the run's file in the folder of providers, with slashes.
func (r committedRun) place() string {
	return path.Join(r.Provider, conformanceFolder, fmt.Sprintf("%s-k8s-%s.yaml", r.Version, r.minor()))
}

// readCommitted returns all committed runs, by provider, the newest release first. The error has each rule that each
// file breaks.
func readCommitted(providers string) ([]committedRun, error) {
	files, err := filepath.Glob(filepath.Join(providers, "*", conformanceFolder, "*"))
	if err != nil {
		return nil, err
	}
	var runs []committedRun
	var mistakes []error
	cells := map[string]string{} // files by what they are about
	for _, file := range files {
		if filepath.Base(file) == badgeFile {
			continue
		}
		run, broken := readRun(file)
		mistakes = append(mistakes, broken...)
		if run == nil {
			continue
		}
		place := filepath.Join(providers, filepath.FromSlash(run.place()))
		if file != place {
			mistakes = append(mistakes, fmt.Errorf("%s: a run of %s %s on Kubernetes %s belongs into %s", file, run.Provider,
				run.Version, run.minor(), place))
		}
		if other, taken := cells[place]; taken {
			mistakes = append(mistakes, fmt.Errorf("%s: is about the same as %s: keep one of them", file, other))
		}
		cells[place] = file
		runs = append(runs, *run)
	}
	slices.SortFunc(runs, func(a, b committedRun) int {
		return cmp.Or(cmp.Compare(a.Provider, b.Provider), semver.Compare(b.Version, a.Version),
			semver.Compare("v"+b.minor(), "v"+a.minor()))
	})
	return runs, refusal(mistakes)
}

// refusal returns an error with all mistakes, or nil.
func refusal(mistakes []error) error {
	if len(mistakes) == 0 {
		return nil
	}
	return fmt.Errorf("runs that can't be in the table; providers/conformance.md has the rules:\n%w",
		errors.Join(mistakes...))
}

// readRun reads the conformance.yaml of a run, and returns each rule that it breaks. The run is nil if the file
// can't be understood.
func readRun(file string) (*committedRun, []error) {
	run := &committedRun{file: file}
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, []error{err}
	}
	if err := yaml.UnmarshalStrict(text, &run.Conformance); err != nil {
		return nil, []error{fmt.Errorf("%s: not a conformance.yaml as a run writes it: %w", file, err)}
	}
	switch {
	case run.Format < report.Format:
		return nil, []error{fmt.Errorf("%s: format %d is older than %d, and says too little: run again by this Plumbline",
			file, run.Format, report.Format)}
	case run.Format > report.Format:
		return nil, []error{fmt.Errorf("%s: format %d is newer than %d, which this Plumbline reads", file, run.Format,
			report.Format)}
	}
	var mistakes []error
	for _, rule := range brokenRules(run.Conformance) {
		mistakes = append(mistakes, fmt.Errorf("%s: %s", file, rule))
	}
	return run, mistakes
}

// brokenRules returns in words which rules for the table a run breaks.
func brokenRules(c report.Conformance) []string {
	var broken []string
	rule := func(kept bool, format string, args ...any) {
		if !kept {
			broken = append(broken, fmt.Sprintf(format, args...))
		}
	}
	rule(len(validation.IsDNS1123Label(c.Provider)) == 0, "provider: %q is no provider's name", c.Provider)
	rule(semver.Canonical(c.Version) == c.Version && c.Version != "" && !module.IsPseudoVersion(c.Version),
		"version: %q is no release such as v1.2.3; KARPENTER, or source.version in the adapter, says which it is", c.Version)
	rule(c.Plumbline != "", "plumbline: the version of the harness is missing; run a release of it, "+
		"or a commit in a clone with git (Go stamps no version in a git worktree)")
	rule(!strings.Contains(c.Plumbline, "+dirty"), "plumbline: %s had uncommitted changes", c.Plumbline)
	rule(!strings.Contains(c.Plumbline, "@"), "plumbline: %s is a fork", c.Plumbline)
	rule(c.Controller.Released,
		"controller: %s is not as released: neither in a registry nor built from a module's release",
		cmp.Or(c.Controller.Image, c.Controller.Source, "what runs"))
	rule(c.Selection == "", "selection: %s left out specs; run all", c.Selection)
	rule(c.Complete || c.Selection != "", "complete: the run had not all suites of the catalogue; run suites.All()")
	return append(append(broken, brokenByClusters(c.Clusters)...), brokenByVerdicts(c)...)
}

// brokenByClusters returns the rules for clusters that a run breaks.
func brokenByClusters(clusters []report.Cluster) []string {
	if len(clusters) == 0 {
		return []string{"clusters: there is none"}
	}
	var broken []string
	first := clusters[0]
	for _, c := range clusters {
		if !semver.IsValid(c.Kubernetes) {
			broken = append(broken, fmt.Sprintf("clusters: %q is no version of Kubernetes", c.Kubernetes))
		}
		if !strings.HasPrefix(c.Image, "sha256:") {
			broken = append(broken, "clusters: the image's digest is missing; a program of the host has none, so run on Linux")
		}
		if c.Kubernetes != first.Kubernetes || c.Image != first.Image {
			broken = append(broken, fmt.Sprintf(
				"clusters: one Kubernetes and one image are wanted, got %s with %s beside %s with %s",
				c.Kubernetes, c.Image, first.Kubernetes, first.Image))
		}
	}
	return slices.Compact(broken)
}

// brokenByVerdicts returns the rules for verdicts that a run breaks.
func brokenByVerdicts(c report.Conformance) []string {
	var broken []string
	counts := map[report.Verdict]int{}
	seen := map[string]bool{}
	for _, s := range c.Specs {
		counts[s.Verdict]++
		switch {
		case seen[s.ID]:
			broken = append(broken, s.ID+": is there twice")
		case s.Verdict.Red():
			broken = append(broken, fmt.Sprintf("%s: %s: %s", s.ID, s.Verdict, s.Reason))
		case s.Verdict == report.Known && (s.Reason == "" || s.Issue == ""):
			broken = append(broken, s.ID+": a known failure needs a reason and an issue")
		case s.Verdict == report.Skipped && s.Reason == "":
			broken = append(broken, s.ID+": it was skipped without a reason")
		case !slices.Contains(report.Verdicts(), s.Verdict):
			broken = append(broken, fmt.Sprintf("%s: there is no verdict %q", s.ID, s.Verdict))
		}
		seen[s.ID] = true
	}
	for _, v := range report.Verdicts() {
		if c.Counts[v] != counts[v] {
			broken = append(broken, fmt.Sprintf("counts: %d %s, but there are %d such specs; the file was changed",
				c.Counts[v], v, counts[v]))
		}
	}
	if c.NotReached > 0 {
		broken = append(broken, fmt.Sprintf("notReached: %d specs had not ended when the run did", c.NotReached))
	}
	if !c.Green {
		broken = append(broken, "green: the run is red")
	}
	return broken
}
