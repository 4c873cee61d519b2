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
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/plumbline-e2e/plumbline/e2e/report"
	"github.com/plumbline-e2e/plumbline/suites"
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

// coverage is what is known of all specs, kept in a file.
type coverage struct {
	Total int                // how many mutants there are; others have other numbers
	Specs map[string]covered // those that pass
	Red   []string           // those that don't, which tell nothing
	file  string
}

// readCoverage reads the file, if it is about as many mutants.
func readCoverage(file string, total int) (*coverage, error) {
	c := &coverage{}
	if err := readJSON(file, c); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	if c.Total != total || c.Specs == nil {
		c = &coverage{Total: total, Specs: map[string]covered{}}
	}
	c.file = file
	return c, nil
}

// missing returns the specs of `make e2e` of which nothing is known, by suite.
func (c *coverage) missing() map[string][]string {
	bySuite := map[string][]string{}
	for _, spec := range specsOf(suites.All()) {
		if _, done := c.Specs[spec]; !done && !slices.Contains(c.Red, spec) {
			suite, _, _ := strings.Cut(spec, "/")
			bySuite[suite] = append(bySuite[suite], spec)
		}
	}
	return bySuite
}

// learn adds what a suite's specs reach, and writes the file.
func (c *coverage) learn(outcomes []report.Outcome, reached reachedLog) error {
	for _, o := range outcomes {
		if o.Verdict == report.Passed {
			c.Specs[o.ID] = covered{o.Wall().Seconds(), reached.between(o.Started, o.Started.Add(o.Took))}
		} else {
			c.Red = append(c.Red, o.ID)
		}
	}
	data, err := json.Marshal(c)
	if err != nil {
		return err
	}
	return os.WriteFile(c.file, data, 0o600)
}

// cover runs all specs of which it isn't known which mutants they reach. Each suite has a process
// of its own, so that what the provider logs belongs to one spec after another.
func (m *mutants) cover(ctx context.Context) error {
	known, err := readCoverage(filepath.Join(m.folder, "coverage.json"), len(m.all))
	if err != nil {
		return err
	}
	m.coverage = known.Specs
	missing := known.missing()
	if len(missing) == 0 {
		return nil
	}
	step(fmt.Sprintf("learning which mutants the specs of %d suites reach", len(missing)))
	var mu sync.Mutex
	group, within := errgroup.WithContext(ctx)
	group.SetLimit(m.Procs)
	for suite, specs := range missing {
		group.Go(func() error {
			outcomes, reached, err := m.coverSuite(within, filepath.Join(m.folder, "coverage", suite), specs)
			if err != nil {
				return err
			}
			mu.Lock()
			defer mu.Unlock()
			step(fmt.Sprintf("%s: %d specs", suite, len(outcomes)))
			return known.learn(outcomes, reached)
		})
	}
	return group.Wait()
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
