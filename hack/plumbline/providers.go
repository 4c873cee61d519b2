package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"sigs.k8s.io/yaml"
)

// knownProvider is an entry of providers/providers.yaml.
type knownProvider struct {
	Name, Repository string
	Release, Core    string // empty: unknown
	Adapter          string // a built-in name, or a path below providers; empty: none
	Runs             string // what runs: controller and cloud
	Gates            string // that were on; empty: none
	Takes            string // what an adapter would take; without one
	Verdicts         *struct {
		Passed, Failed, Known, Skipped int
		Date                           string
	}
}

// Files of the table, and the lines around it.
const (
	providersData  = "providers/providers.yaml"
	providersPage  = "providers/README.md"
	tableBeginning = "<!-- Written by `make providers` from providers.yaml. -->\n"
	tableEnd       = "<!-- End of the table. -->\n"
)

// writeProviders prints providers/README.md with its table of providers made anew.
func writeProviders(context.Context, []string) error {
	raw, err := os.ReadFile(providersData)
	if err != nil {
		return err
	}
	var all []knownProvider
	if err := yaml.UnmarshalStrict(raw, &all); err != nil {
		return fmt.Errorf("%s: %w", providersData, err)
	}
	rows, err := providerTable(all)
	if err != nil {
		return fmt.Errorf("%s: %w", providersData, err)
	}
	page, err := withTable(providersPage, tableBeginning, rows)
	fmt.Print(page)
	return err
}

// withTable returns the text of a page with another table between a beginning and tableEnd.
func withTable(page, beginning, table string) (string, error) {
	text, err := os.ReadFile(page)
	if err != nil {
		return "", err
	}
	before, rest, begins := strings.Cut(string(text), beginning)
	_, after, ends := strings.Cut(rest, tableEnd)
	if !begins || !ends {
		return "", fmt.Errorf("%s lacks the lines %q and %q around the table", page, beginning, tableEnd)
	}
	return before + beginning + table + tableEnd + after, nil
}

// providerTable returns the table in Markdown. An adapter without verdicts is an error: what never ran
// doesn't count as working.
func providerTable(all []knownProvider) (string, error) {
	var b strings.Builder
	var mistakes []error
	b.WriteString("| Provider | Release | Karpenter | Runs here | Verdicts of the catalogue |\n|---|---|---|---|---|\n")
	for _, p := range all {
		if (p.Adapter == "") != (p.Verdicts == nil) || (p.Adapter == "") != (p.Takes != "") {
			mistakes = append(mistakes, fmt.Errorf("%s: write adapter and verdicts, or takes", p.Name))
			continue
		}
		runs, verdicts := "not yet; it takes "+p.Takes, ""
		if v := p.Verdicts; v != nil {
			runs = fmt.Sprintf("`PROVIDER=%s`: %s", providerArgument(p.Adapter), p.Runs)
			verdicts = fmt.Sprintf("%d passed, %d failed, %d known, %d skipped (%s)", v.Passed, v.Failed, v.Known,
				v.Skipped, v.Date)
			if p.Gates != "" {
				verdicts += "; gates: " + p.Gates
			}
		}
		fmt.Fprintf(&b, "| [%s](%s) | %s | %s | %s | %s |\n", p.Name, p.Repository, p.Release, p.Core, runs, verdicts)
	}
	return b.String(), errors.Join(mistakes...)
}

// providerArgument returns PROVIDER for an adapter: its name, or its path from the root.
func providerArgument(adapter string) string {
	if strings.Contains(adapter, "/") {
		return "providers/" + adapter
	}
	return adapter
}
