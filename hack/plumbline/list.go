package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"strings"
	"text/tabwriter"
)

// entry is a spec in the output of `list`.
type entry struct {
	ID              string   `json:"id"`
	Suite           string   `json:"suite"`
	Name            string   `json:"name"`
	Needs           []string `json:"needs"`
	Gate            string   `json:"gate,omitempty"`
	SinceKarpenter  string   `json:"sinceKarpenter,omitempty"`
	SinceKubernetes string   `json:"sinceKubernetes,omitempty"`
	Known           []string `json:"known,omitempty"` // upstream issues of its known failures
}

func list(_ context.Context, args []string) error {
	flags := flag.NewFlagSet("list", flag.ContinueOnError)
	format := flags.String("format", "table", "table or json")
	if err := flags.Parse(args); err != nil {
		return fmt.Errorf("list: %w", err)
	}
	switch *format {
	case "json":
		out := json.NewEncoder(os.Stdout)
		out.SetIndent("", "  ")
		return out.Encode(entries())
	case "table":
		return table(entries())
	default:
		return fmt.Errorf("FORMAT=%s: use table or json", *format)
	}
}

func entries() []entry {
	var all []entry
	for _, suite := range allSuites() {
		for _, spec := range suite.Specs() {
			e := entry{
				ID: spec.ID(), Suite: suite.Name, Name: spec.Name, Needs: []string{}, Gate: spec.Gate,
				SinceKarpenter: spec.Since.Karpenter, SinceKubernetes: spec.Since.Kubernetes,
			}
			for _, need := range spec.Needs {
				e.Needs = append(e.Needs, string(need))
			}
			for _, known := range spec.Known {
				e.Known = append(e.Known, known.Issue)
			}
			all = append(all, e)
		}
	}
	return all
}

func table(all []entry) error {
	w := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "ID\tSPEC\tNEEDS\tSINCE")
	for _, e := range all {
		fmt.Fprintf(w, "%s\t%s %s\t%s\t%s\n", e.ID, e.Suite, e.Name, strings.Join(e.Needs, ", "), e.sinceText())
	}
	fmt.Fprintf(w, "\n%d specs\n", len(all))
	return w.Flush()
}

func (e entry) sinceText() string {
	var parts []string
	if e.SinceKarpenter != "" {
		parts = append(parts, "Karpenter "+e.SinceKarpenter)
	}
	if e.SinceKubernetes != "" {
		parts = append(parts, "Kubernetes "+e.SinceKubernetes)
	}
	if len(parts) == 0 {
		return "Karpenter 1.0"
	}
	return strings.Join(parts, ", ")
}
