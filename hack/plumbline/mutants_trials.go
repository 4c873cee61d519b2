package main

import (
	"bufio"
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
	file, err := os.Open(filepath.Join(m.folder, resultsFile))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer file.Close()
	lines := bufio.NewScanner(file)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var r mutantResult
		if json.Unmarshal(lines.Bytes(), &r) == nil { // the last line may be cut
			m.results[r.Name] = r
		}
	}
	return lines.Err()
}

// tryAll tries the mutants of which no result is known.
func (m *mutants) tryAll(ctx context.Context, drawn []mutant) error {
	left := slices.DeleteFunc(slices.Clone(drawn), func(x mutant) bool {
		r, known := m.results[x.Name]
		return known && r.Verdict != mutantUndecided
	})
	step(fmt.Sprintf("%d mutants are drawn of %d, %d are left to try, %d at a time", len(drawn), len(m.all), len(left),
		m.Procs))
	file, err := os.OpenFile(filepath.Join(m.folder, resultsFile), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer file.Close()
	var mu sync.Mutex
	done, began := 0, time.Now()
	group, within := errgroup.WithContext(ctx)
	group.SetLimit(m.Procs)
	for _, x := range left {
		group.Go(func() error {
			mu.Lock()
			specs := m.specsReaching(x)
			mu.Unlock()
			r, err := m.try(within, x, specs)
			if err != nil {
				return err
			}
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
		})
	}
	return group.Wait()
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

// roundSizes are how many specs run together, each number on a new cluster: most mutants are caught by the first few.
func roundSizes() []int { return []int{6, 12, 24, 48, 96, 192, 384} }

// try runs the specs until one is red.
func (m *mutants) try(ctx context.Context, x mutant, specs []string) (mutantResult, error) {
	began := time.Now()
	r := mutantResult{Name: x.Name, Verdict: mutantSurvived, Reach: len(specs)}
	if len(specs) == 0 {
		r.Verdict = mutantUnreached
		return r, nil
	}
	left := specs[:min(m.specs, len(specs))]
	for _, size := range roundSizes() {
		if len(left) == 0 || r.Verdict != mutantSurvived {
			break
		}
		now := left[:min(size, len(left))]
		left = left[len(now):]
		if err := m.round(ctx, x, now, &r); err != nil {
			return r, err
		}
	}
	r.Took = time.Since(began).Seconds()
	return r, nil
}

// round runs some specs on one cluster.
func (m *mutants) round(ctx context.Context, x mutant, specs []string, r *mutantResult) error {
	folder := filepath.Join(m.folder, "trials", strconv.Itoa(x.ID))
	t := m.trial(specs)
	t.vars["MUTANT"], t.vars["FAILFAST"] = strconv.Itoa(x.ID), "1"
	if err := os.RemoveAll(folder); err != nil {
		return err
	}
	outcomes, err := t.run(ctx, m.binary, folder)
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	for _, o := range outcomes {
		r.Saw = append(r.Saw, o.ID)
		switch {
		case o.Verdict == report.Failed, o.Verdict == report.Vacuous, o.Verdict == report.Known:
			r.Verdict, r.By, r.Why = mutantCaught, o.ID, firstLine(o.Reason)
			return os.RemoveAll(folder)
		case o.Verdict == report.Infra && strings.HasPrefix(o.Reason, "set-up failed"):
			r.Verdict, r.By, r.Why = mutantCaught, "the start", firstLine(o.Reason)
			return os.RemoveAll(folder)
		case o.Verdict == report.Infra:
			r.Verdict, r.Why = mutantUndecided, o.ID+": "+firstLine(o.Reason)
		}
	}
	if err != nil && r.Verdict == mutantSurvived {
		r.Verdict, r.Why = mutantUndecided, err.Error()
	}
	if r.Verdict == mutantSurvived {
		return os.RemoveAll(folder)
	}
	return nil
}
