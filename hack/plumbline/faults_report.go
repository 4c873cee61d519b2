package main

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/history"
	"github.com/plumbline-e2e/plumbline/e2e/report"
)

// faultResults is what became of the points of a plan.
type faultResults struct {
	plan  faultsPlan
	of    outcomesByID // of the points
	again outcomesByID // of the red ones, each several times
}

// These are said of points beside the verdicts.
const (
	notRun     = "not run"
	notReached = "not reached" // the spec made fewer such requests this time
	anotherEnd = "another end" // the claims hold, and the cluster comes to rest in another state than without a fault
	// A launch wasn't recorded yet, and was made again: suites/findings.md, "Karpenter: unrecorded launches".
	unrecordedLaunch = "known (unrecorded launch)"
)

// redFaults are the verdicts that fail a run.
var redFaults = []string{string(report.Failed), anotherEnd, string(report.Infra), notRun}

// verdict returns what became of a point, and why.
func (r faultResults) verdict(p e2e.FaultPoint, of outcomesByID) (verdict, why string) {
	o, ran := of[p.ID()]
	if !ran {
		return notRun, ""
	}
	end, compared := r.plan.Ends[p.Spec]
	switch {
	case o.Verdict == report.Vacuous && strings.Contains(o.Reason, "never came about"):
		return notReached, ""
	case o.Verdict == report.Passed && (!compared || slices.Equal(o.End, end)):
		return string(o.Verdict), ""
	case o.Verdict == report.Passed || o.Verdict == report.Failed:
		if h, err := history.LoadFile(o.History); err == nil && launchedAgain(h) {
			return unrecordedLaunch, cmp.Or(firstLine(o.Reason), endsOtherwise(o.End, end))
		}
		if o.Verdict == report.Passed {
			return anotherEnd, endsOtherwise(o.End, end)
		}
	}
	return string(o.Verdict), firstLine(o.Reason)
}

func endsOtherwise(got, want []string) string {
	return fmt.Sprintf("at the end %s; without a fault %s", strings.Join(got, ", "), strings.Join(want, ", "))
}

// red returns the points that say something against the provider.
func (r faultResults) red() (red []e2e.FaultPoint) {
	for _, p := range r.plan.Points {
		if verdict, _ := r.verdict(p, r.of); verdict == string(report.Failed) || verdict == anotherEnd {
			red = append(red, p)
		}
	}
	return red
}

// repeated says how often a red point was red when it was repeated, or "".
func (r faultResults) repeated(p e2e.FaultPoint) string {
	red, ran := 0, 0
	for p.Try = 1; p.Try <= tries; p.Try++ {
		verdict, _ := r.verdict(p, r.again)
		if verdict != notRun {
			ran++
		}
		if verdict == string(report.Failed) || verdict == anotherEnd {
			red++
		}
	}
	if ran == 0 {
		return ""
	}
	return fmt.Sprintf("red %d of %d times more", red, ran)
}

// conclude writes faults.md, and prints what is red with the command that repeats it. Took is 0 if several machines
// did.
func (r faultResults) conclude(folder string, took time.Duration) error {
	file := filepath.Join(folder, "faults.md")
	if err := os.WriteFile(file, []byte(r.table()), 0o644); err != nil { //nolint:gosec // a report
		return err
	}
	counts := map[string]int{}
	for _, p := range r.plan.Points {
		verdict, why := r.verdict(p, r.of)
		counts[verdict]++
		if verdict == string(report.Failed) || verdict == anotherEnd {
			fmt.Fprintf(os.Stderr, "\n✗ %s\n  %s: %s\n", p.ID(), verdict, why)
			if often := r.repeated(p); often != "" {
				fmt.Fprintf(os.Stderr, "  %s\n", often)
			}
			fmt.Fprintf(os.Stderr, "  again: %s FOCUS=^%s$ REPEATS=10\n", r.plan.Command, p.ID())
		}
	}
	var said []string
	red := 0
	for _, verdict := range slices.Sorted(maps.Keys(counts)) {
		said = append(said, fmt.Sprintf("%d %s", counts[verdict], verdict))
		if slices.Contains(redFaults, verdict) {
			red += counts[verdict]
		}
	}
	within := ""
	if took > 0 {
		within = fmt.Sprintf(", in %s", took.Round(time.Second))
	}
	fmt.Fprintf(os.Stderr, "\n%d requests struck: %s%s; %s\n", len(r.plan.Points), strings.Join(said, ", "), within, file)
	if red > 0 {
		return errors.New("not every fault left things as they should be")
	}
	return nil
}

// command returns the command that strikes the same provider. Points say by their names which pattern they have.
func (c faultsConfig) command() string { return withProvider("make crash") }

// table returns a table for each spec: its writes, the patterns, and what became of each.
func (r faultResults) table() string {
	var b strings.Builder
	b.WriteString("# Faults\n\nEach write of the controller in a spec, struck once for each pattern.\n")
	spec := ""
	for _, p := range r.plan.Points {
		if p.Spec != spec {
			spec = p.Spec
			fmt.Fprintf(&b, "\n## %s\n", spec)
			if end := r.plan.Ends[spec]; len(end) > 0 {
				fmt.Fprintf(&b, "\nAt the end: %s.\n", strings.Join(end, ", "))
			}
			b.WriteString("\n| Request | Number | Pattern | Verdict | |\n|---|---:|---|---|---|\n")
		}
		verdict, why := r.verdict(p, r.of)
		if often := r.repeated(p); often != "" {
			why += "; " + often
		}
		fmt.Fprintf(&b, "| %s | %d | %s | %s | %s |\n", p.Request, p.Nth, p.Pattern, verdict, cell(why))
	}
	return b.String()
}
