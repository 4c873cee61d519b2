package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/report"
)

// faultsPlan says what is struck. It is kept in the run's folder, so that a run can go on.
type faultsPlan struct {
	Command string              `json:"command"` // with what selects the provider
	Points  []e2e.FaultPoint    `json:"points"`
	Ends    map[string][]string `json:"ends,omitempty"` // report.Outcome.End without a fault, by the spec's ID
	Part    *report.Part        `json:"part,omitempty"` // nil: these are all
}

// planFile is the plan's file in the run's folder.
const planFile = "plan.json"

// honestRuns is how often each spec runs without a fault: once more than once, since not all end the same way.
const honestRuns = 2

// plan returns what is to be struck, and the folder of the run: a new one, or that of the run that goes on.
func (c faultsConfig) plan(ctx context.Context) (p faultsPlan, folder string, err error) {
	if c.resume != "" {
		err := readJSON(filepath.Join(c.resume, planFile), &p)
		if err == nil && p.Command != c.command() {
			err = fmt.Errorf("RESUME=%s: it is a run of `%s`, not of `%s`", c.resume, p.Command, c.command())
		}
		return p, c.resume, err
	}
	folder, err = e2e.NewRunFolder(filepath.Join(c.Artifacts, "faults"))
	if err != nil {
		return p, "", err
	}
	step("artifacts in " + folder)
	p.Command = c.command()
	if c.nth > 0 {
		for _, id := range c.chosen() {
			p.Points = append(p.Points, c.pointsOf(id, c.request, c.nth, c.nth)...)
		}
	} else if err := c.learn(ctx, folder, &p); err != nil {
		return p, folder, err
	}
	if !c.Shard.Whole() {
		p.Points = partOfPoints(c.Shard, p.Points)
		p.Part = &report.Part{Number: c.Shard.Part, Of: c.Shard.Of, Deal: c.dealOfFaults()}
	}
	return p, folder, writeJSON(filepath.Join(folder, planFile), p)
}

// learn learns from runs without faults how many requests there are, and how the cluster is at the end.
func (c faultsConfig) learn(ctx context.Context, folder string, p *faultsPlan) error {
	step("learning from runs without faults what the controller writes")
	var honest []e2e.FaultPoint
	for _, id := range c.chosen() {
		for try := 1; try <= honestRuns; try++ {
			honest = append(honest, e2e.FaultPoint{Spec: id, Try: try})
		}
	}
	outcomes, err := c.runPoints(ctx, folder, "honest", honest)
	if err != nil {
		return err
	}
	of := outcomesByID{}
	of.add(outcomes)
	p.Ends = map[string][]string{}
	for pair := range slices.Chunk(honest, honestRuns) {
		c.learnFrom(of[pair[0].ID()], of[pair[1].ID()], pair[0].Spec, p)
	}
	if len(p.Points) == 0 {
		return errors.New("there is nothing to strike: no spec passed without faults, or the controller wrote none " +
			"of what FOCUS and REQUEST choose; only the local backend counts writes")
	}
	return nil
}

// learnFrom adds the points of a spec that ran twice without a fault.
func (c faultsConfig) learnFrom(a, b report.Outcome, spec string, p *faultsPlan) {
	for _, o := range []report.Outcome{a, b} {
		if o.Verdict != report.Passed {
			step(fmt.Sprintf("%s is left out: without a fault it is %s: %s", spec, o.Verdict, firstLine(o.Reason)))
			return
		}
	}
	if slices.Equal(a.End, b.End) {
		p.Ends[spec] = a.End
	} else {
		step(fmt.Sprintf("%s ends in more than one way without a fault, so that ends aren't compared: %s; %s", spec,
			strings.Join(a.End, ", "), strings.Join(b.End, ", ")))
	}
	most := maps.Clone(a.Writes)
	for kind, n := range b.Writes {
		most[kind] = max(most[kind], n)
	}
	for _, kind := range slices.Sorted(maps.Keys(most)) {
		if c.request != "" && c.request != kind {
			continue
		}
		for _, point := range c.pointsOf(spec, kind, 1, most[kind]) {
			if single := point; c.only != "" {
				single.Try = 0
				if single.ID() != c.only {
					continue
				}
			}
			p.Points = append(p.Points, point)
		}
	}
}

// checkResumed returns why a folder is not one of a run that can go on, or nil.
func checkResumed(folder string) error {
	for _, name := range []string{"FOCUS", "PATTERN", "REQUEST", "NTH", "REPEATS", "SHARD"} {
		if v := os.Getenv(name); v != "" {
			return fmt.Errorf("%s=%s: RESUME goes on with what the run has begun, so leave it out", name, v)
		}
	}
	if _, err := os.Stat(filepath.Join(folder, planFile)); err != nil {
		return fmt.Errorf("RESUME=%s: there is no run of `make crash` or `make faults` to go on with: %w", folder, err)
	}
	return nil
}

// outcomesByID holds outcomes by the ID of the spec or point.
type outcomesByID map[string]report.Outcome

func (of outcomesByID) add(outcomes []report.Outcome) {
	for _, o := range outcomes {
		of[o.ID] = o
	}
}
