package main

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/report"
)

// The verdicts on mutants.
const (
	mutantCaught    = "caught"    // a spec is red
	mutantSurvived  = "survived"  // all specs that saw it are green
	mutantUnreached = "unreached" // it makes no difference to any spec
	mutantUndecided = "undecided" // the harness couldn't judge: it starves the machine, for example
)

// mutantResult is what became of a mutant.
type mutantResult struct {
	Name    string   `json:"name"`
	Verdict string   `json:"verdict"`
	By      string   `json:"by,omitempty"`  // the spec that caught it
	Why     string   `json:"why,omitempty"` // what broke
	Saw     []string `json:"saw,omitempty"` // the specs that ran with it
	Reach   int      `json:"reach"`         // to how many specs it makes a difference
	Took    float64  `json:"tookSeconds"`
}

const resultsFile = "results.jsonl"

// readResults reads what earlier runs have found, so that a run resumes.
func (m *mutants) readResults() error {
	return readLines(filepath.Join(m.folder, resultsFile), func(r mutantResult) { m.results[r.Name] = r })
}

// untried returns the mutants of which no result is known, and then those that survived other specs than the most
// telling ones: SPECS was lower, or there are new specs, or some caught others of the kind.
func (m *mutants) untried(drawn []mutant) []mutant {
	left := slices.DeleteFunc(slices.Clone(drawn), func(x mutant) bool {
		switch r := m.results[x.Name]; r.Verdict {
		case mutantSurvived:
			return len(m.unseen(r, m.specsReaching(x))) == 0
		case mutantUnreached:
			return len(m.reaching(x)) == 0 // a new spec may reach it
		default:
			return r.Verdict == mutantCaught
		}
	})
	slices.SortStableFunc(left, func(a, b mutant) int {
		return cmp.Compare(len(m.results[a.Name].Saw), len(m.results[b.Name].Saw))
	})
	return left
}

// tryAll tries the mutants that are untried.
func (m *mutants) tryAll(ctx context.Context, drawn []mutant) error {
	left := m.untried(drawn)
	step(fmt.Sprintf("%d mutants are drawn of %d, %d are left to try, %d at a time", len(drawn), len(m.all), len(left),
		m.Procs))
	file, err := os.OpenFile(filepath.Join(m.folder, resultsFile), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer file.Close()
	var mu sync.Mutex
	done, began := 0, time.Now()
	tried := func(x mutant, r mutantResult) error {
		mu.Lock()
		defer mu.Unlock()
		m.results[x.Name] = r
		done++
		remaining := time.Since(began) / time.Duration(done) * time.Duration(len(left)-done)
		fmt.Fprintf(os.Stdout, "[%*d/%d] %s %s: %s -> %s: %s, in %.0f s  (about %s left)\n", len(fmt.Sprint(len(left))),
			done, len(left), mark(r.Verdict == mutantCaught), x.Name, short(x.Before), short(x.After), r.line(), r.Took,
			remaining.Round(time.Second))
		line, err := json.Marshal(r)
		if err == nil {
			_, err = file.Write(append(line, '\n'))
		}
		return err
	}
	queue := make(chan mutant, len(left))
	for _, x := range left {
		queue <- x
	}
	close(queue)
	group, within := errgroup.WithContext(ctx)
	for worker := range m.Procs {
		group.Go(func() error {
			s := m.server(filepath.Join(m.folder, "trials", strconv.Itoa(worker+1)))
			defer s.end()
			for x := range queue {
				mu.Lock()
				specs, known := m.specsReaching(x), m.results[x.Name]
				mu.Unlock()
				r, err := m.try(within, s, x, specs, known)
				if err == nil {
					err = tried(x, r)
				}
				if err != nil {
					return err
				}
			}
			return nil
		})
	}
	return group.Wait()
}

// unseen returns the most telling specs that a mutant hasn't survived yet.
func (m *mutants) unseen(r mutantResult, specs []string) []string {
	return slices.DeleteFunc(slices.Clone(specs[:min(m.specs, len(specs))]), func(spec string) bool {
		return slices.Contains(r.Saw, spec)
	})
}

// server returns what runs the trials of a worker, with the mutated provider.
func (m *mutants) server(folder string) *server {
	return &server{binary: m.binary, folder: folder, trial: m.trial(nil)}
}

// line says in words what became of the mutant.
func (r mutantResult) line() string {
	switch r.Verdict {
	case mutantCaught:
		return fmt.Sprintf("caught by %s: %s", r.By, r.Why)
	case mutantSurvived:
		return fmt.Sprintf("survived %d of %d specs that it makes a difference to", len(r.Saw), r.Reach)
	case mutantUnreached:
		return "makes no difference to any spec"
	}
	return r.Verdict + ": " + r.Why
}

// short cuts a piece of source for a line.
func short(text string) string {
	if text == "" {
		return "nothing"
	}
	if r := []rune(text); len(r) > 60 {
		return string(r[:57]) + "..."
	}
	return text
}

// try runs the specs until one is red, but for those that the mutant has survived already.
func (m *mutants) try(ctx context.Context, s *server, x mutant, specs []string, known mutantResult) (
	mutantResult, error,
) {
	began := time.Now()
	r := mutantResult{Name: x.Name, Verdict: mutantSurvived, Reach: len(specs)}
	if len(specs) == 0 {
		r.Verdict = mutantUnreached
		return r, nil
	}
	if known.Verdict == mutantSurvived {
		r.Saw, r.Took = known.Saw, known.Took
	}
	answer, err := s.try(ctx, e2e.Trial{
		Variables: map[string]string{"MUTANT": strconv.Itoa(x.ID)}, Specs: m.unseen(r, specs),
	})
	if ctx.Err() != nil {
		return r, context.Cause(ctx)
	}
	r.Took += time.Since(began).Seconds()
	if err != nil { // it starves the machine, for example
		r.Verdict, r.Why = mutantUndecided, err.Error()
		return r, nil //nolint:nilerr // the others go on
	}
	for _, o := range answer.Outcomes {
		r.Saw = append(r.Saw, o.ID)
		switch {
		case o.Verdict == report.Failed, o.Verdict == report.Vacuous, o.Verdict == report.Known:
			r.Verdict, r.By, r.Why = mutantCaught, o.ID, firstLine(o.Reason)
		case e2e.ConfigurationFailed(o):
			r.Verdict, r.By, r.Why = mutantCaught, "the start", firstLine(o.Reason)
		case o.Verdict == report.Infra:
			r.Verdict, r.Why = mutantUndecided, o.ID+": "+firstLine(o.Reason)
		}
	}
	return r, nil
}
