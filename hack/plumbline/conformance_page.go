package main

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"golang.org/x/mod/semver"

	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/e2e/report"
)

// byProvider returns the runs of each provider, in their order.
func byProvider(runs []committedRun) map[string][]committedRun {
	all := map[string][]committedRun{}
	for _, r := range runs {
		all[r.Provider] = append(all[r.Provider], r)
	}
	return all
}

// conformanceSection returns the table of runs in Markdown, and what is known and skipped of each.
func conformanceSection(runs []committedRun) string {
	if len(runs) == 0 {
		return "No run is committed yet.\n"
	}
	minors := map[string]bool{}
	for _, r := range runs {
		minors[r.minor()] = true
	}
	var columns []string
	for minor := range minors {
		columns = append(columns, minor)
	}
	slices.SortFunc(columns, func(a, b string) int { return semver.Compare("v"+b, "v"+a) })
	var b strings.Builder
	b.WriteString("| Provider | Release |")
	for _, minor := range columns {
		b.WriteString(" Kubernetes " + minor + " |")
	}
	b.WriteString("\n|---|---|" + strings.Repeat("---|", len(columns)) + "\n")
	for first, rest := 0, 0; first < len(runs); first = rest { // a row is all runs of a release
		for rest = first; rest < len(runs) && sameRelease(runs[first], runs[rest]); rest++ {
			continue
		}
		fmt.Fprintf(&b, "| %s | %s |", runs[first].Provider, runs[first].Version)
		for _, minor := range columns {
			b.WriteString(" " + conformanceCell(runs[first:rest], minor) + " |")
		}
		b.WriteString("\n")
	}
	for _, r := range runs {
		b.WriteString(conformanceDetails(r))
	}
	return b.String()
}

func sameRelease(a, b committedRun) bool { return a.Provider == b.Provider && a.Version == b.Version }

// conformanceCell returns the cell of a release's run on a version of Kubernetes, or "" if there is none.
func conformanceCell(release []committedRun, minor string) string {
	for _, r := range release {
		if r.minor() == minor {
			return fmt.Sprintf("[%s](%s); %s", verdictCounts(r.Conformance), r.place(), gatesOf(r.Conformance))
		}
	}
	return ""
}

// verdictCounts returns how many specs passed, are known to fail and were skipped.
func verdictCounts(c report.Conformance) string {
	return fmt.Sprintf("%d passed, %d known, %d skipped", c.Counts[report.Passed], c.Counts[report.Known],
		c.Counts[report.Skipped])
}

// gatesOf names the feature gates that the adapter or GATES turned on.
func gatesOf(c report.Conformance) string {
	var on []string
	for gate, is := range c.Gates {
		if is {
			on = append(on, gate)
		}
	}
	if len(on) == 0 {
		return "no gates"
	}
	slices.Sort(on)
	return "gates: " + strings.Join(on, ", ")
}

// conformanceDetails returns what ran and how, and, folded, which specs didn't pass or ran again, and why.
func conformanceDetails(r committedRun) string {
	var b strings.Builder
	fmt.Fprintf(&b, "\n### %s %s on Kubernetes %s\n\n", r.Provider, r.Version, r.minor())
	made := "image `" + r.Controller.Image + "`"
	if r.Controller.Image == "" {
		made = "built from `" + r.Controller.Source + "`"
	}
	fmt.Fprintf(&b, "- What ran: %s, `%s`\n", made, r.Clusters[0].Image)
	fmt.Fprintf(&b, "- By: Plumbline %s, %s, %s, on %s, in %s\n", r.Plumbline, adapterOf(r.Conformance),
		check.Words(len(r.Specs), "specs"), r.Started.UTC().Format("2006-01-02"), r.Took)
	for _, c := range r.Clusters {
		fmt.Fprintf(&b, "- On: %s, Kubernetes %s, speed %s, with Karpenter %s\n", c.Backend, c.Kubernetes, c.Speed,
			c.Karpenter)
	}
	b.WriteString("\n")
	proofs := func(match func(report.Proof) bool) (some []report.Proof) {
		for _, s := range r.Specs {
			if match(s) {
				some = append(some, s)
			}
		}
		return some
	}
	foldProofs(&b, "known failures", proofs(func(p report.Proof) bool { return p.Verdict == report.Known }), knownReason)
	foldProofs(&b, "skipped", proofs(func(p report.Proof) bool { return p.Verdict == report.Skipped }),
		func(p report.Proof) string { return cell(p.Reason) })
	foldProofs(&b, "run again, since the first time was infra",
		proofs(func(p report.Proof) bool { return p.Retried != "" }),
		func(p report.Proof) string { return cell(p.Retried) })
	return b.String()
}

func adapterOf(c report.Conformance) string {
	if c.Adapter == "" {
		return "an adapter in Go"
	}
	return "adapter `" + c.Adapter + "`"
}

// knownReason links the issue of a known failure. A run's reason ends with its address.
func knownReason(p report.Proof) string {
	return fmt.Sprintf("%s ([known](%s))", cell(strings.TrimSuffix(p.Reason, " ("+p.Issue+")")), p.Issue)
}

// foldProofs writes specs by their reasons, folded away; nothing if there are none.
func foldProofs(b *strings.Builder, what string, proofs []report.Proof, reason func(report.Proof) string) {
	if len(proofs) == 0 {
		return
	}
	var reasons []string
	ids := map[string][]string{}
	for _, p := range proofs {
		why := reason(p)
		if ids[why] == nil {
			reasons = append(reasons, why)
		}
		ids[why] = append(ids[why], p.ID)
	}
	slices.Sort(reasons)
	fmt.Fprintf(b, "<details><summary>%d %s</summary>\n\n", len(proofs), what)
	for _, why := range reasons {
		slices.Sort(ids[why])
		fmt.Fprintf(b, "- %s: %s\n", why, strings.Join(ids[why], ", "))
	}
	b.WriteString("\n</details>\n")
}

// badge returns the content of an endpoint badge of shields.io for a provider's runs: the newest release on the
// newest Kubernetes. See https://shields.io/badges/endpoint-badge.
func badge(runs []committedRun) (string, error) {
	newest := runs[0]
	color := "brightgreen"
	if newest.Counts[report.Known] > 0 {
		color = "green"
	}
	text, err := json.MarshalIndent(struct {
		SchemaVersion int    `json:"schemaVersion"` // always 1
		Label         string `json:"label"`
		Message       string `json:"message"`
		Color         string `json:"color"`
	}{
		1, "Plumbline",
		fmt.Sprintf("%s on Kubernetes %s: %s", newest.Version, newest.minor(), verdictCounts(newest.Conformance)), color,
	}, "", "  ")
	return string(text) + "\n", err
}
