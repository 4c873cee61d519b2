package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/report"
)

// summary prints the latest run as Markdown, for a CI page.
func summary(_ context.Context, _ []string) error {
	c, err := e2e.FromEnv()
	if err != nil {
		return err
	}
	latest := filepath.Join(c.Artifacts, "latest")
	if lies, err := readLies(filepath.Join(latest, liesFile)); err == nil {
		fmt.Print(lies.markdown())
		return nil
	}
	outcomes, err := e2e.Outcomes(latest)
	if err != nil {
		return fmt.Errorf("there is no run to sum up: %w", err)
	}
	proven, err := report.ReadConformance(filepath.Join(latest, e2e.ConformanceFile))
	if err != nil && !errors.Is(err, fs.ErrNotExist) { // a killed run has none
		return err
	}
	fmt.Print(markdown(outcomes, proven.NotReached))
	return nil
}

// markdown returns a table of the outcomes. Red ones come first.
func markdown(outcomes []report.Outcome, notReached int) string {
	var red, other strings.Builder
	for _, o := range outcomes {
		b := &other
		if o.Verdict.Red() {
			b = &red
		}
		why := strings.TrimSpace(firstLine(o.Reason) + " " + o.Note)
		fmt.Fprintf(b, "| %s | %s | %d | %.1f s | %.0f s | %s |\n",
			o.Verdict, cell(o.Sentence())+" ("+o.ID+")", report.Tested(o.Claims), o.Wall().Seconds(),
			o.Took.Seconds(), cell(why))
	}
	const head = "| verdict | spec | times tested | took | by the cluster's clock | why |\n|---|---|---|---|---|---|\n"
	return fmt.Sprintf("### %s\n\n%s%s%s%s",
		report.Counts(outcomes, notReached), head, red.String(), other.String(), invariants(outcomes))
}

// invariants returns a table of how often each invariant was tested.
func invariants(outcomes []report.Outcome) string {
	var b strings.Builder
	for _, r := range report.Invariants(outcomes) {
		fmt.Fprintf(&b, "| %s | %d | %d | %d |\n", cell(r.Name), r.Specs, r.Times, r.Broken)
	}
	if b.Len() == 0 {
		return ""
	}
	return "\n| invariant | specs that test it | times tested | specs that break it |\n|---|---|---|---|\n" + b.String()
}

func cell(s string) string { return strings.NewReplacer("|", `\|`, "<", "&lt;", "\n", " ").Replace(s) }
