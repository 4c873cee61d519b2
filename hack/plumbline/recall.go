package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// recallFile is the table of what the specs recall of Karpenter's history.
const recallFile = "suites/recall.md"

const recallHead = `# Recall

What released versions of Karpenter got wrong, and whether the specs would have met it. Each row was run on a release
that broke the promise and on one that keeps it, a later one unless none does yet. It counts as caught if the specs
are red on the first and green on the second. This table is written by ` + "`make recall`" + `, from
[releases.yaml](../providers/faulty/lies/releases.yaml).

Not in the table, since no spec has shown it on a release yet:

- [2956](https://github.com/kubernetes-sigs/karpenter/pull/2956), a static pool that becomes ready is missed (v1.11.2):
  a race; ` + "`static/late-ready`" + ` passed in two runs of that release.
- [1721](https://github.com/kubernetes-sigs/karpenter/pull/1721), a node that joins before its launch is recorded isn't
  registered until something of it changes (v1.0.8): a race, which any spec may lose there.
- The panic when a static pool goes while a slot is reserved (v1.14.1): a race.
- [3002](https://github.com/kubernetes-sigs/karpenter/issues/3002), a missing NodeClass stops all NodeOverlays
  (v1.12.1): KWOK's provider doesn't mind a missing NodeClass, so ` + "`overlay/beside-missing`" + ` needs another
  provider of that core.
- [2671](https://github.com/kubernetes-sigs/karpenter/issues/2671), ten times the CPU (v1.11.0): no spec measures it,
  but [a comparison](../e2e/compare/exhibits.md) does.
- A node that was unhealthy from the start isn't repaired (v1.14.1): no simulated instance joins unhealthy.
- Two of AWS's releases (9318, 9170, both v1.9.0): ` + "`cloud/stalled`" + ` is there for the first. v1.9.0 and v1.13.1
  could not be built where that was tried.

`

// recall runs the specs of each defect of a release on that release, and on one that keeps the
// promise. It writes their rows of the table of recallFile, and keeps the rows of the others. Of the parts of a run,
// who merges them writes it.
func recall(ctx context.Context, args []string) error {
	r, err := tryLies(ctx, args, "recall")
	if err == nil && r.Part == nil {
		err = r.writeRecall()
	}
	if err != nil {
		return err
	}
	return r.verdict()
}

// writeRecall writes the rows of the defects that were tried.
func (r *liesReport) writeRecall() error {
	all, err := loadLies(filepath.Join(faulty, "lies"), allSuites())
	if err != nil {
		return err
	}
	before, err := os.ReadFile(recallFile)
	if err != nil {
		return err
	}
	return os.WriteFile(recallFile, []byte(r.recallTable(all, string(before))), 0o644) //nolint:gosec // a document
}

// recallTable formats the report as recallFile. A defect that wasn't tried keeps its row of before.
func (r *liesReport) recallTable(all []lie, before string) string {
	var rows []string
	for _, l := range all {
		if l.Level != releases {
			continue
		}
		i := slices.IndexFunc(r.Lies, func(row liesRow) bool { return row.Name == l.Name })
		if i >= 0 {
			rows = append(rows, r.Lies[i].recallRow())
		} else if row := rowOf(l, before); row != "" {
			rows = append(rows, row)
		}
	}
	caught := 0
	for _, row := range rows {
		if strings.HasPrefix(row, "| "+mark(true)) {
			caught++
		}
	}
	return recallHead + fmt.Sprintf("%d of %d are caught.\n\n", caught, len(rows)) + exploredOf(all) +
		"| | What went wrong | Promise | Broken in | Kept in | Specs | Caught by |\n" +
		"|---|---|---|---|---|---|---|\n" + strings.Join(rows, "")
}

// exploredOf says which defects exploration found by itself, or "".
func exploredOf(all []lie) string {
	var by []string
	for _, l := range all {
		if l.Explored != "" {
			by = append(by, fmt.Sprintf("[%s](%s) in %s", cell(l.Name), l.Issue, l.Explored))
		}
	}
	if len(by) == 0 {
		return ""
	}
	return fmt.Sprintf("[`make explore`](../README.md#worlds-that-nobody-wrote) found %d of them by itself, in sequences "+
		"that nobody wrote:\n%s.\n\n", len(by), strings.Join(by, ",\n"))
}

func (l liesRow) recallRow() string {
	return fmt.Sprintf("| %s | [%s](%s): %s | %s | %s | %s | %s | %s |\n",
		mark(l.Caught), cell(l.Name), l.Issue, cell(l.Lie), cell(l.Promise),
		l.release(l.Karpenter), l.release(l.Kept), cell(strings.Join(l.Specs, ", ")), cell(l.caughtBy()))
}

// rowOf returns the defect's row of a table, or nothing.
func rowOf(l lie, table string) string {
	for line := range strings.Lines(table) {
		if strings.HasPrefix(line, "| ") && strings.Contains(line, " | ["+cell(l.Name)+"](") {
			return line
		}
	}
	return ""
}

// release names a release of the lie's provider.
func (l lie) release(version string) string {
	return strings.TrimSpace(l.Provider + " " + version)
}

// caughtBy names the checks that broke, or what was not as claimed.
func (l liesRow) caughtBy() string {
	if !l.Caught {
		return strings.Join(slices.Concat(l.Missed, l.Wrong), "; ")
	}
	var by []string
	for _, c := range l.By {
		if check := varying.ReplaceAllString(c.brokenChecks(), "$1$2$3"); !slices.Contains(by, check) {
			by = append(by, check)
		}
	}
	return strings.Join(by, "; ")
}

// varying is what differs between two runs of a spec: the ends of names, and times but for limits.
var varying = regexp.MustCompile(
	`\b(time limit of [0-9.hms]+)|\b(pool|claim)[b-z2-9]{5}\b|\b([a-z]+)-[b-z2-9]{5}\b| [0-9.]+m?[0-9.]*s\b`)
