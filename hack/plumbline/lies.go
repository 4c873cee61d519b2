package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/providers"
	"github.com/plumbline-e2e/plumbline/suites"
)

// liesFile holds the results, in the run's folder.
const liesFile = "lies.json"

// runLies runs the specs of each lie with the lie and with the honest provider. It fails
// unless every lie is caught and no honest run is red.
func runLies(ctx context.Context, args []string) error {
	r, err := tryLies(ctx, args, "lies")
	if err != nil {
		return err
	}
	return r.verdict()
}

// liesOf returns which lies `make lies` and `make recall` tell by default.
func liesOf(kind string) func(lie) bool {
	return func(l lie) bool { return kind == "lies" || l.Level == releases }
}

// tryLies runs the lies that LIE chooses, or those of the kind of run, and prints and saves the report.
func tryLies(ctx context.Context, args []string, kind string) (*liesReport, error) {
	flags := flag.NewFlagSet("lies", flag.ContinueOnError)
	binary := flags.String("binary", "", "the compiled conformance test, which `make lies` makes")
	if err := flags.Parse(args); err != nil {
		return nil, fmt.Errorf("lies: %w", err)
	}
	c, all, chosen, err := chooseLies(*binary, liesOf(kind))
	if err != nil {
		return nil, err
	}
	dealt := part(c.Shard, chosen)
	if len(dealt) == 0 {
		return nil, fmt.Errorf("SHARD=%s: only %d lies are chosen, and each part must have one", c.Shard, len(chosen))
	}
	honest, lying, kept := trials(dealt)
	if err := prepare(ctx, c, slices.Concat(honest, lying, kept)); err != nil {
		return nil, err
	}
	run, err := e2e.NewRunFolder(c.Artifacts)
	if err != nil {
		return nil, err
	}
	total := len(honest) + len(lying) + len(kept)
	step(fmt.Sprintf("%d lies, %d runs, %d at a time; artifacts in %s", len(dealt), total, min(c.Procs, total), run))
	r := newLiesReport(dealt, len(chosen) == len(all))
	r.Part, r.Recall = partOf(c.Shard, chosen), kind == "recall"
	show := &liesProgress{total: total, began: time.Now()}
	group, within := errgroup.WithContext(ctx)
	group.SetLimit(c.Procs)
	start := func(t trial, add func(trial, result) string) {
		group.Go(func() error {
			began := time.Now()
			outcomes, err := t.run(within, *binary, filepath.Join(run, t.name))
			if within.Err() != nil {
				return context.Cause(within)
			}
			show.line(func() string { return add(t, result{outcomes, err, time.Since(began)}) })
			return nil
		})
	}
	for _, t := range honest {
		start(t, r.addHonest)
	}
	for _, t := range lying {
		start(t, r.addLie)
	}
	for _, t := range kept {
		start(t, r.addKept)
	}
	if err := group.Wait(); err != nil {
		return nil, err
	}
	r.Took = time.Since(show.began).Seconds()
	r.finish(specsOf(allSuites()))
	if err := writeJSON(filepath.Join(run, liesFile), r); err != nil {
		return nil, err
	}
	fmt.Fprintln(os.Stdout)
	return r, r.print(os.Stdout)
}

// prepare builds what all trials need, so that a failed build is reported before any starts.
func prepare(ctx context.Context, c e2e.Config, all []trial) error {
	return eachProviding(c, all, func(c e2e.Config, a *providers.Adapter) error {
		_, err := e2e.Prepare(ctx, c, a, step)
		return err
	})
}

// eachProviding calls do once for each provider and release that trials run with, until it fails.
func eachProviding(c e2e.Config, all []trial, do func(e2e.Config, *providers.Adapter) error) error {
	type providing struct{ provider, release, to string }
	done := map[providing]bool{}
	for _, t := range all {
		p := providing{t.provider, t.release, t.vars["TO_PROVIDER"]}
		if done[p] {
			continue
		}
		done[p] = true
		c.Release, c.ToProvider = p.release, p.to
		if err := do(c, providers.Named(t.provider)); err != nil {
			return err
		}
	}
	return nil
}

// chooseLies returns all lies, and those that LIE chooses, or those by default. The error holds all mistakes.
func chooseLies(binary string, byDefault func(lie) bool) (c e2e.Config, all, chosen []lie, err error) {
	c, err = e2e.FromEnv()
	errs := []error{err}
	for _, name := range []string{"PROVIDER", "KARPENTER", "IMAGE", "FOCUS", "SKIP", "LABELS", "GATES", "KEEP"} {
		if v := os.Getenv(name); v != "" {
			errs = append(errs,
				fmt.Errorf("%s=%s: each lie says what runs; select lies by LIE, with names or levels separated by commas", name, v))
		}
	}
	if _, err := os.Stat(binary); err != nil {
		errs = append(errs, fmt.Errorf("the conformance test is missing, run `make lies`: %w", err))
	}
	all, err = loadLies(filepath.Join(faulty, "lies"), allSuites())
	errs = append(errs, err)
	switch list := os.Getenv("LIE"); {
	case err != nil:
	case list == "":
		chosen = slices.DeleteFunc(slices.Clone(all), func(l lie) bool { return !byDefault(l) })
	default:
		chosen, err = choose(all, list)
		errs = append(errs, err)
	}
	return c, all, chosen, errors.Join(errs...)
}

// allSuites returns the suites of `make e2e`, and those of other runs.
func allSuites() []*e2e.Suite { return slices.Concat(suites.All(), suites.Apart()) }

// specsOf returns the IDs of the specs of suites.
func specsOf(all []*e2e.Suite) (ids []string) {
	for _, suite := range all {
		for _, spec := range suite.Specs() {
			ids = append(ids, spec.ID())
		}
	}
	return ids
}

// liesProgress prints a line for each ended trial.
type liesProgress struct {
	mu          sync.Mutex
	done, total int
	began       time.Time
}

// line calls add and prints its line. Its lock also protects the work of add.
func (p *liesProgress) line(add func() string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.done++
	left := time.Since(p.began) / time.Duration(p.done) * time.Duration(p.total-p.done)
	fmt.Fprintf(os.Stdout, "[%*d/%d] %s  (about %s left)\n", len(fmt.Sprint(p.total)), p.done, p.total, add(),
		left.Round(time.Second))
}
