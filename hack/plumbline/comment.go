package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/e2e/report"
)

const commentHelp = `usage: NAME=conformance JOBS='[...]' plumbline comment RUNS [BASE]

prints the comment on a pull request. JOBS is what plumbline jobs prints. RUNS has a folder for each job, by its ID,
with conformance.yaml and progress.jsonl. BASE has the same of the default branch, and a file "commit"`

// printComment prints what the runs of all jobs found, as a comment on a pull request.
func printComment(_ context.Context, args []string) error {
	var jobs []job
	err := json.Unmarshal([]byte(os.Getenv("JOBS")), &jobs)
	if err != nil || len(jobs) == 0 || len(args) < 1 || len(args) > 2 {
		return errors.Join(errors.New(commentHelp), err)
	}
	runs, err := readRuns(args[0], jobs)
	if err != nil {
		return err
	}
	var base base
	if len(args) == 2 {
		if base, err = readBase(args[1], jobs); err != nil {
			return err
		}
	}
	fmt.Print(comment(os.Getenv("NAME"), runs, base))
	return nil
}

// jobRun is what a job left of its run.
type jobRun struct {
	report.Conformance // empty if the run was cut off
	Job                job
	Outcomes           []report.Outcome
	Ended              bool
}

// readRuns reads what jobs left, in their order.
func readRuns(folder string, jobs []job) ([]jobRun, error) {
	var runs []jobRun
	for _, j := range jobs {
		outcomes, err := e2e.Outcomes(filepath.Join(folder, j["id"]))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, fmt.Errorf("the run of %s: %w", j["name"], err)
		}
		c, err := report.ReadConformance(filepath.Join(folder, j["id"], e2e.ConformanceFile))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
		runs = append(runs, jobRun{Conformance: c, Job: j, Outcomes: outcomes, Ended: err == nil})
	}
	return runs, nil
}

// counts returns how many specs have which verdict.
func (r jobRun) counts() string {
	switch {
	case len(r.Outcomes) == 0:
		return "nothing was tested; the job's log says why"
	case !r.Ended:
		return report.Counts(r.Outcomes, 0) + "; it was cut off"
	default:
		return report.Counts(r.Outcomes, r.NotReached)
	}
}

// base is what runs of the default branch proved.
type base struct {
	Commit string
	Runs   map[string]report.Conformance // by the jobs' IDs
}

// readBase reads runs of the default branch. There may be none of a job, or none at all.
func readBase(folder string, jobs []job) (base, error) {
	runs, err := readRuns(folder, jobs)
	if err != nil {
		return base{}, err
	}
	b := base{Runs: map[string]report.Conformance{}}
	for _, r := range runs {
		if r.Ended {
			b.Runs[r.Job["id"]] = r.Conformance
		}
	}
	commit, err := os.ReadFile(filepath.Join(folder, "commit"))
	if errors.Is(err, fs.ErrNotExist) {
		return b, nil
	}
	b.Commit = strings.TrimSpace(string(commit))
	return b, err
}

// marker is the first line of a comment, by which the next run finds it. A pull request has one for each call of the
// reusable workflow.
func marker(name string) string { return fmt.Sprintf("<!-- plumbline: %s -->\n", name) }

// comment returns what maintainers look for in a pull request's runs, as Markdown: what is red, what changed since the
// default branch, and the rest folded away.
func comment(name string, runs []jobRun, base base) string {
	var p poster
	red := 0
	var counts []string
	for _, r := range runs {
		sign := mark(r.Green)
		if !r.Green {
			red++
		}
		counts = append(counts, fmt.Sprintf("| %s %s | %s |\n", sign, cell(r.Job["name"]), cell(r.counts())))
	}
	title := check.Words(len(runs), "runs") + " green"
	if red > 0 {
		title = fmt.Sprintf("%d of %s red", red, check.Words(len(runs), "runs"))
	}
	fmt.Fprintf(&p.text, "%s### %s: %s\n\n", marker(name), name, title)
	all := findings(runs)
	p.table(findingHead, rows(all, len(runs), report.Failed, report.Vacuous, report.Infra))
	p.list(changed(runs, base))
	p.table("| Run | Specs |\n|---|---|\n", counts)
	for _, v := range []report.Verdict{report.Known, report.Passed} {
		p.fold(string(v), findingHead, rows(all, len(runs), v))
	}
	p.fold("reasons to skip specs", "| Reason | Specs |\n|---|---|\n", skipped(all))
	return p.String()
}

const findingHead = "| Suite | Spec | Result | Duration | Notes |\n|---|---|---|---|---|\n"

// finding is one result of a spec, and the runs that have it.
type finding struct {
	report.Outcome               // in the first of them
	Longest        time.Duration // in real time
	Jobs           []string      // by name
}

// findings returns the results of all runs, by the specs' IDs. The same verdict for the same reason is one result.
func findings(runs []jobRun) []*finding {
	type key struct {
		id, reason string
		verdict    report.Verdict
	}
	all := map[key]*finding{}
	for _, r := range runs {
		for _, o := range r.Outcomes {
			k := key{o.ID, firstLine(o.Reason), o.Verdict}
			if all[k] == nil {
				all[k] = &finding{Outcome: o}
			}
			all[k].Longest = max(all[k].Longest, o.Wall())
			all[k].Jobs = append(all[k].Jobs, r.Job["name"])
		}
	}
	return slices.SortedFunc(maps.Values(all), func(a, b *finding) int {
		return cmp.Or(cmp.Compare(a.ID, b.ID), cmp.Compare(a.Reason, b.Reason))
	})
}

// rows returns the findings with these verdicts, in that order, as rows of a table.
func rows(all []*finding, runs int, verdicts ...report.Verdict) (rows []string) {
	for _, v := range verdicts {
		for _, f := range all {
			if f.Verdict == v {
				rows = append(rows, f.row(runs))
			}
		}
	}
	return rows
}

// row returns the finding as a row of a table. It names the runs, unless these are all.
func (f *finding) row(runs int) string {
	notes := []string{firstLine(f.Reason), f.Issue, firstLine(f.Note), within(f.Jobs, runs)}
	notes = slices.DeleteFunc(notes, func(note string) bool { return note == "" })
	suite := cell(strings.TrimSuffix(f.Suite, ":"))
	return fmt.Sprintf("| %s | %s (%s) | %s | %s | %s |\n", suite, cell(f.Spec), f.ID, f.Verdict,
		report.Round(f.Longest), cell(strings.Join(notes, "; ")))
}

// within returns which of the runs are meant: nothing if all are, and at most three by name.
func within(jobs []string, runs int) string {
	const most = 3
	switch {
	case len(jobs) == runs:
		return ""
	case len(jobs) <= most:
		return "in " + strings.Join(jobs, "; ")
	default:
		return fmt.Sprintf("in %s and %d more of %d runs", strings.Join(jobs[:most], "; "), len(jobs)-most, runs)
	}
}

// changed returns what the default branch's runs said differently, as lines of a list with a heading.
func changed(runs []jobRun, base base) (heading string, lines []string) {
	if len(base.Runs) == 0 {
		return "There is no run of the default branch to compare with.", nil
	}
	jobs := map[string][]string{}
	for _, r := range runs {
		verdicts := map[string]report.Verdict{}
		for _, o := range r.Outcomes {
			verdicts[o.ID] = o.Verdict
		}
		before := base.Runs[r.Job["id"]]
		for _, was := range before.Specs {
			is := verdicts[was.ID]
			if is == "" && r.Complete && before.Complete {
				is = "not there"
			}
			if is != "" && is != was.Verdict {
				line := fmt.Sprintf("- %s: %s, was %s", was.ID, is, was.Verdict)
				jobs[line] = append(jobs[line], r.Job["name"])
			}
		}
	}
	for _, line := range slices.Sorted(maps.Keys(jobs)) {
		lines = append(lines, strings.TrimRight(line+" "+cell(within(jobs[line], len(runs))), " ")+"\n")
	}
	since := strings.TrimRight(fmt.Sprintf("since the default branch, %.7s", base.Commit), " ,")
	if len(lines) == 0 {
		return "Nothing changed " + since + ".", nil
	}
	return "Changed " + since + ":", lines
}

// skipped returns how many specs each reason has kept from being run, as rows of a table.
func skipped(all []*finding) (rows []string) {
	specs := map[string]int{}
	for _, f := range all {
		if f.Verdict == report.Skipped {
			specs[firstLine(f.Reason)]++
		}
	}
	for _, reason := range slices.Sorted(maps.Keys(specs)) {
		rows = append(rows, fmt.Sprintf("| %s | %d |\n", cell(reason), specs[reason]))
	}
	return rows
}
