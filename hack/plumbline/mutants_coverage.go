package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/plumbline-e2e/plumbline/e2e/report"
)

// covered is what a spec reaches when no mutant is on.
type covered struct {
	Took    float64 `json:"tookSeconds"`
	Mutants []int   `json:"mutants"` // those that make a difference, in order
}

func (c covered) reaches(id int) bool {
	_, found := slices.BinarySearch(c.Mutants, id)
	return found
}

// cover runs all specs of which it isn't known which mutants they reach, or takes what an
// earlier run has learnt. Each suite has a process of its own, so that what the provider writes
// down belongs to one spec after another.
func (m *mutants) cover(ctx context.Context) error {
	file := filepath.Join(m.folder, "coverage.json")
	known := struct {
		Total int                // how many mutants there are; others are other numbers
		Specs map[string]covered // those that pass
		Red   []string           // those that don't, which tell nothing
	}{}
	if err := readJSON(file, &known); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if known.Total != len(m.all) {
		known.Total, known.Specs, known.Red = len(m.all), map[string]covered{}, nil
	}
	m.coverage = known.Specs
	bySuite := map[string][]string{}
	for _, spec := range allSpecs() {
		if _, done := known.Specs[spec]; done || slices.Contains(known.Red, spec) {
			continue
		}
		suite, _, _ := strings.Cut(spec, "/")
		bySuite[suite] = append(bySuite[suite], spec)
	}
	if len(bySuite) == 0 {
		return nil
	}
	step(fmt.Sprintf("learning which mutants the specs of %d suites reach", len(bySuite)))
	group, within := errgroup.WithContext(ctx)
	group.SetLimit(m.Procs)
	learnt := make(chan func())
	for suite, specs := range bySuite {
		group.Go(func() error {
			folder := filepath.Join(m.folder, "coverage", suite)
			outcomes, reached, err := m.coverSuite(within, folder, specs)
			if err != nil {
				return err
			}
			learnt <- func() {
				for _, o := range outcomes {
					if o.Verdict == report.Passed {
						known.Specs[o.ID] = covered{Took: o.Wall().Seconds(), Mutants: reached.between(o.Started, o.Started.Add(o.Took))}
						continue
					}
					known.Red = append(known.Red, o.ID)
				}
				step(fmt.Sprintf("%s: %d specs", suite, len(outcomes)))
			}
			return nil
		})
	}
	ended := make(chan error, 1)
	go func() {
		ended <- group.Wait()
		close(learnt)
	}()
	for learn := range learnt {
		learn()
		data, err := json.Marshal(known)
		if err == nil {
			err = os.WriteFile(file, data, 0o600)
		}
		if err != nil {
			return err
		}
	}
	return <-ended
}

func (m *mutants) coverSuite(ctx context.Context, folder string, specs []string) ([]report.Outcome, reachedLog, error) {
	if err := os.RemoveAll(folder); err != nil {
		return nil, nil, err
	}
	t := m.trial(specs)
	t.vars["MUTANT_COVERAGE"] = "1"
	outcomes, err := t.run(ctx, m.binary, folder)
	if err != nil {
		return nil, nil, err
	}
	reached, err := readReached(filepath.Join(folder, "latest", "logs"))
	return outcomes, reached, err
}

func (m *mutants) trial(specs []string) trial {
	return trial{provider: m.adapter, gates: os.Getenv("GATES"), specs: specs, procs: "1", vars: map[string]string{
		"MUTANT": "", "MUTANT_COVERAGE": "", "FAILFAST": "",
	}}
}

// reachedLog is what the processes of a provider logged: which mutants made a difference when.
type reachedLog []reachedThen

type reachedThen struct {
	at      time.Time
	mutants []int
}

// readReached reads the logs of a run: those of the controllers have a line for each second.
func readReached(folder string) (reachedLog, error) {
	files, err := filepath.Glob(filepath.Join(folder, "*", "*.log"))
	if err != nil {
		return nil, err
	}
	var log reachedLog
	for _, name := range files {
		text, err := os.ReadFile(name)
		if err != nil {
			return nil, err
		}
		for line := range strings.Lines(string(text)) {
			fields := strings.Fields(line)
			if len(fields) < 3 || fields[0] != "mutants" {
				continue
			}
			var numbers []int
			for _, f := range fields[1:] {
				n, err := strconv.Atoi(f)
				if err != nil {
					break // the process was killed as it wrote
				}
				numbers = append(numbers, n)
			}
			if len(numbers) > 1 {
				log = append(log, reachedThen{time.UnixMilli(int64(numbers[0])), numbers[1:]})
			}
		}
	}
	return log, nil
}

// between returns the mutants that were reached in a time.
func (l reachedLog) between(from, to time.Time) []int {
	var all []int
	for _, then := range l {
		// What a line says happened within the second before it.
		if !then.at.Before(from) && !then.at.After(to.Add(time.Second)) {
			all = append(all, then.mutants...)
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}
