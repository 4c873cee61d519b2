package main

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/report"
	"github.com/plumbline-e2e/plumbline/e2e/report/page"
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
	run, err := e2e.ReadRun(latest, step)
	if err != nil {
		return fmt.Errorf("there is no run to sum up: %w", err)
	}
	fmt.Print(markdown(run))
	return nil
}

// markdown returns what people look for first in a run: what failed, what changed since the run before, and the
// counts. What passed, and why specs were skipped, is folded away.
func markdown(run *page.Run) string {
	var b strings.Builder
	fmt.Fprintf(&b, "### %s %s: %s\n\n", run.Provider, run.Version, report.Counts(run.Outcomes, run.NotReached))
	outcomeTable(&b, run.Red())
	changes(&b, run.Grid())
	fold(&b, "known failures", run.Known())
	fold(&b, "passed", run.Passed())
	for _, s := range run.Skipped() {
		fmt.Fprintf(&b, "<details><summary>%d skipped: %s</summary>\n\n", len(s.Outcomes), cell(s.Reason))
		for _, o := range s.Outcomes {
			fmt.Fprintf(&b, "- %s (%s)\n", cell(o.Sentence()), o.ID)
		}
		b.WriteString("\n</details>\n")
	}
	b.WriteString(invariants(run.Outcomes))
	return b.String()
}

// outcomeTable writes outcomes as a table; nothing if there are none.
func outcomeTable(b *strings.Builder, outcomes []report.Outcome) {
	if len(outcomes) == 0 {
		return
	}
	b.WriteString("| verdict | spec | times tested | took | by the cluster's clock | why |\n|---|---|---|---|---|---|\n")
	for _, o := range outcomes {
		why := strings.TrimSpace(firstLine(o.Reason) + " " + o.Note)
		fmt.Fprintf(b, "| %s | %s (%s) | %d | %.1f s | %.0f s | %s |\n", o.Verdict, cell(o.Sentence()), o.ID,
			report.Tested(o.Claims), o.Wall().Seconds(), o.Took.Seconds(), cell(why))
	}
	b.WriteString("\n")
}

// fold writes outcomes as a table that is folded away; nothing if there are none.
func fold(b *strings.Builder, what string, outcomes []report.Outcome) {
	if len(outcomes) == 0 {
		return
	}
	fmt.Fprintf(b, "<details><summary>%d %s</summary>\n\n", len(outcomes), what)
	outcomeTable(b, outcomes)
	b.WriteString("</details>\n")
}

// changes lists the specs whose verdict differs from that of the run before, if there is one.
func changes(b *strings.Builder, grid page.Grid) {
	if len(grid.Runs) < 2 {
		return
	}
	before, now := len(grid.Runs)-2, len(grid.Runs)-1
	var lines []string
	for _, row := range grid.Changed() {
		was, is := row.Cells[before].Verdict, row.Cells[now].Verdict
		if was != is && was != "" && is != "" {
			lines = append(lines, fmt.Sprintf("- %s: %s, was %s\n", row.ID, is, was))
		}
	}
	if len(lines) > 0 {
		fmt.Fprintf(b, "Changed since the run before, of %s:\n\n%s\n", grid.Runs[before].Version, strings.Join(lines, ""))
	}
}

// invariants returns a table of how often each invariant was tested, folded away.
func invariants(outcomes []report.Outcome) string {
	var b strings.Builder
	for _, r := range report.Invariants(outcomes) {
		fmt.Fprintf(&b, "| %s | %d | %d | %d |\n", cell(r.Name), r.Specs, r.Times, r.Broken)
	}
	if b.Len() == 0 {
		return ""
	}
	return "<details><summary>invariants</summary>\n\n| invariant | specs that test it | times tested | " +
		"specs that break it |\n|---|---|---|---|\n" + b.String() + "\n</details>\n"
}

// cell escapes text for a table. Nobody is mentioned by it: what errors say may look like a user's name.
func cell(s string) string {
	return strings.NewReplacer("|", `\|`, "<", "&lt;", "\n", " ", "@", "@<!-- -->").Replace(s)
}
