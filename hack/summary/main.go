// Command summary prints what became of a run as Markdown, for the summary
// page of a CI job:
//
//	summary [folder of a run, by default _artifacts/latest]
//
// It reads the messages that the workers left in that folder, so it also
// tells how far a run came that was cut off.
package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/plumbline-e2e/plumbline/e2e/report"
)

// progressFile is where the workers of a run leave their messages.
const progressFile = "progress.jsonl"

func main() {
	folder := filepath.Join("_artifacts", "latest")
	if len(os.Args) > 1 {
		folder = os.Args[1]
	}
	if err := summarize(os.Stdout, folder); err != nil {
		fmt.Fprintf(os.Stderr, "summary: %v\n", err)
		os.Exit(1)
	}
}

// summarize writes the summary of the run in a folder.
func summarize(out io.Writer, folder string) error {
	f, err := os.Open(filepath.Join(folder, progressFile))
	if err != nil {
		return fmt.Errorf("no run has left its messages: %w", err)
	}
	defer f.Close()
	messages, err := report.Follow(f).Next()
	if err != nil {
		return fmt.Errorf("reading %s: %w", f.Name(), err)
	}
	_, err = io.WriteString(out, markdown(messages))
	return err
}

// markdown shows what needs attention first and folds away what does not.
func markdown(messages []report.Message) string {
	var b strings.Builder
	var attention, fine []report.Outcome
	counts := map[report.Verdict]int{}
	for _, m := range messages {
		switch {
		case m.Fatal != "":
			fmt.Fprintf(&b, "**The run could not go on**\n\n```\n%s\n```\n\n", strings.TrimSpace(m.Fatal))
		case m.Outcome == nil:
		default:
			counts[m.Outcome.Verdict]++
			if m.Outcome.Verdict.Red() || m.Outcome.Note != "" {
				attention = append(attention, *m.Outcome)
			} else {
				fine = append(fine, *m.Outcome)
			}
		}
	}
	fmt.Fprintf(&b, "**%s**\n\n", tally(counts))
	if len(attention) > 0 {
		table(&b, attention)
	}
	if len(fine) > 0 {
		b.WriteString("<details><summary>all others</summary>\n\n")
		table(&b, fine)
		b.WriteString("</details>\n")
	}
	return b.String()
}

// tally names each verdict that was given and how often.
func tally(counts map[report.Verdict]int) string {
	var parts []string
	for _, v := range []report.Verdict{
		report.Passed, report.Failed, report.Vacuous, report.Infra, report.Known, report.Skipped,
	} {
		if counts[v] > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", counts[v], v))
		}
	}
	if len(parts) == 0 {
		return "no spec has ended"
	}
	return strings.Join(parts, ", ")
}

func table(b *strings.Builder, outcomes []report.Outcome) {
	slices.SortStableFunc(outcomes, func(x, y report.Outcome) int {
		return strings.Compare(x.Sentence(), y.Sentence())
	})
	b.WriteString("| verdict | spec | took | |\n|---|---|---:|---|\n")
	for _, o := range outcomes {
		remark := strings.TrimSpace(o.Reason + " " + o.Note)
		fmt.Fprintf(b, "| %s | %s | %s | %s |\n", o.Verdict, cell(o.Sentence()), o.Took.Round(100*time.Millisecond), cell(remark))
	}
	b.WriteString("\n")
}

// cell is a text that stays in its cell.
func cell(s string) string {
	return strings.NewReplacer("|", `\|`, "\n", "<br>", "<", "&lt;").Replace(strings.TrimSpace(s))
}
