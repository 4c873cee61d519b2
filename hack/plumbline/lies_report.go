package main

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/plumbline-e2e/plumbline/e2e/report"
)

// provenWanted is the share of specs that at least one lie must turn red.
const provenWanted = 0.9

type result struct {
	outcomes []report.Outcome
	err      error // why the trial did not complete
	took     time.Duration
}

// liesReport is the content of lies.json.
type liesReport struct {
	Lies     []liesRow `json:"lies"`
	Honest   honest    `json:"honest"`
	Complete bool      `json:"complete"` // all lies ran, here or in other parts, so Unproven is meaningful
	// Part says which part of a run this is; nil: the whole.
	Part     *report.Part `json:"part,omitempty"`
	Recall   bool         `json:"recall,omitempty"` // of `make recall`, which keeps a table
	Specs    int          `json:"specs"`            // in all suites
	Unproven []string     `json:"unproven"`         // specs that no lie turned red
	Took     float64      `json:"tookSeconds"`
}

// liesRow is one lie and its result.
type liesRow struct {
	lie
	Caught bool     `json:"caught"` // its specs are all red, and green in the release that keeps the promise
	By     []caught `json:"by"`
	Missed []string `json:"missed,omitempty"` // specs that claim to catch it but did not, with verdicts
	Wrong  []string `json:"wrong,omitempty"`  // other problems
	Took   float64  `json:"tookSeconds"`      // the whole trial, with its cluster
}

// caught is a spec that turned red.
type caught struct {
	Spec string `json:"spec"`
	// Checks are the spec's own checks and the invariants that broke.
	Claims     []string `json:"claims,omitempty"`
	Invariants []string `json:"invariants,omitempty"`
	Reason     string   `json:"reason"`
	Took       float64  `json:"tookSeconds"` // from the spec's start to its verdict
}

// honest is the result of the honest provider.
type honest struct {
	Specs int      `json:"specs"`
	Red   []string `json:"red,omitempty"` // with the reason
	Took  float64  `json:"tookSeconds"`   // all its trials, with their clusters
}

func newLiesReport(lies []lie, complete bool) *liesReport {
	r := &liesReport{Complete: complete}
	for _, l := range lies {
		r.Lies = append(r.Lies, liesRow{lie: l})
	}
	return r
}

func (r *liesReport) row(name string) *liesRow {
	return &r.Lies[slices.IndexFunc(r.Lies, func(l liesRow) bool { return l.Name == name })]
}

// addHonest adds a run of the honest provider and returns a summary line.
func (r *liesReport) addHonest(t trial, got result) string {
	red := redSpecs(got)
	r.Honest.Specs += len(t.specs)
	r.Honest.Red = append(r.Honest.Red, red...)
	r.Honest.Took += got.took.Seconds()
	return fmt.Sprintf("%s %s: %d specs, %d red, in %s", mark(len(red) == 0), t.name, len(t.specs), len(red),
		got.took.Round(time.Second))
}

// addKept adds a run of the release that keeps a promise.
func (r *liesReport) addKept(t trial, got result) string {
	row := r.row(strings.TrimSuffix(t.name, keptSuffix))
	red := redSpecs(got)
	for _, why := range red {
		row.Wrong = append(row.Wrong, fmt.Sprintf("red in %s too: %s", t.release, why))
	}
	return fmt.Sprintf("%s %s: %d specs of %s, %d red", mark(len(red) == 0), row.Name, len(t.specs), t.release, len(red))
}

func (r *liesReport) addLie(t trial, got result) string {
	row := r.row(t.name)
	row.Took = got.took.Seconds()
	if got.err != nil {
		row.Wrong = append(row.Wrong, got.err.Error())
	}
	for _, o := range got.outcomes {
		// A known failure of a release is a failure too.
		if o.Verdict == report.Failed || o.Verdict == report.Known {
			row.By = append(row.By, caught{
				o.ID, brokenNames(o.Claims), brokenNames(o.Invariants), firstLine(o.Reason),
				o.Took.Seconds(),
			})
			continue
		}
		row.Missed = append(row.Missed, fmt.Sprintf("%s (%s) %s", o.ID, o.Verdict, firstLine(o.Reason)))
	}
	by := "not caught"
	if len(row.By) > 0 {
		by = "caught by " + row.By[0].brokenChecks()
	}
	problem := strings.Join(slices.Concat(row.Missed, row.Wrong), "; ")
	if problem != "" {
		problem = "; NOT AS CLAIMED: " + problem
	}
	return fmt.Sprintf("%s %s (%s): %s, in %s%s", mark(len(row.By) > 0 && problem == ""), row.Name, row.Level, by,
		got.took.Round(time.Second), problem)
}

// finish computes which lies were caught and which specs no lie turned red.
func (r *liesReport) finish(specs []string) {
	proven := map[string]bool{}
	for i := range r.Lies {
		row := &r.Lies[i]
		row.Caught = len(row.By) > 0 && len(row.Missed)+len(row.Wrong) == 0
		for _, c := range row.By {
			proven[c.Spec] = true
		}
	}
	r.Specs, r.Unproven = len(specs), []string{}
	for _, s := range specs {
		if !proven[s] {
			r.Unproven = append(r.Unproven, s)
		}
	}
}

// verdict returns an error unless every lie was caught, no honest spec is red, and enough
// specs are proven.
func (r *liesReport) verdict() error {
	var errs []error
	for _, l := range r.Lies {
		if !l.Caught {
			errs = append(errs, fmt.Errorf("%s: not caught as its specs claim", l.Name))
		}
	}
	if n := len(r.Honest.Red); n > 0 {
		errs = append(errs, fmt.Errorf("the honest provider is red in %d specs:\n%s", n, strings.Join(r.Honest.Red, "\n")))
	}
	if r.Complete && r.Part == nil && r.provenSpecs() < provenWanted*float64(r.Specs) {
		errs = append(errs, fmt.Errorf("%d of %d specs are unproven; at most a tenth may be", len(r.Unproven), r.Specs))
	}
	return errors.Join(errs...)
}

func (r *liesReport) provenSpecs() float64 { return float64(r.Specs - len(r.Unproven)) }

// brokenChecks names the checks that broke, or the reason if none did.
func (c caught) brokenChecks() string {
	checks := slices.Concat(c.Claims, c.Invariants)
	if len(checks) == 0 {
		return c.Reason
	}
	more := ""
	if n := len(checks) - 1; n > 0 {
		more = fmt.Sprintf(" (and %d more)", n)
	}
	return checks[0] + more
}

func brokenNames(all []report.Judged) []string {
	var names []string
	for _, j := range all {
		if j.Broke() {
			names = append(names, j.Check)
		}
	}
	return names
}

// redSpecs lists the specs of an honest trial that are not green, including skipped ones.
func redSpecs(got result) []string {
	var red []string
	if got.err != nil {
		red = append(red, got.err.Error())
	}
	for _, o := range got.outcomes {
		if o.Verdict.Red() || o.Verdict == report.Skipped {
			red = append(red, fmt.Sprintf("%s (%s): %s", o.ID, o.Verdict, firstLine(o.Reason)))
		}
	}
	return red
}

func firstLine(s string) string {
	line, _, _ := strings.Cut(s, "\n")
	return line
}

func mark(good bool) string {
	if good {
		return "✓"
	}
	return "✗"
}
