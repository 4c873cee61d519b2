package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"time"

	"github.com/onsi/ginkgo/v2/types"
	"golang.org/x/sync/errgroup"

	"github.com/plumbline-e2e/plumbline/e2e/report"
)

// The catalogue takes hours at SPEED=1, so only a sample runs at that speed: the longest
// specs, and every tenth of the others, which counts ten times.
const (
	longest = 10
	oneIn   = 10
)

// bothCan selects specs that can run at both speeds: not those that let a month pass.
const bothCan = "!leaps"

// benchSuites measures what bent time gains. It runs the catalogue and Karpenter's own suite,
// at both speeds. At SPEED=auto each has the machine to itself. At SPEED=1 they mostly wait,
// so they run side by side, for about an hour and a half.
func benchSuites(ctx context.Context, binary string) error {
	c, _, err := selected()
	if err != nil {
		return err
	}
	folder := filepath.Join(c.Artifacts, "bench")
	t := trial{provider: providerName(), release: c.Release, gates: os.Getenv("GATES"), rerun: c.Rerun}

	step("measuring the catalogue at SPEED=auto; its progress is in " + filepath.Join(folder, "catalogue-auto", trialLog))
	t.speed, t.labels = "auto", bothCan
	began := time.Now()
	bent, err := t.run(ctx, binary, filepath.Join(folder, "catalogue-auto"))
	if err != nil {
		return fmt.Errorf("measuring the catalogue at SPEED=auto: %w", err)
	}
	took := time.Since(began)
	step("measuring Karpenter's own suite at SPEED=auto")
	ownBent, ownTook, err := upstreamAt(ctx, "auto", filepath.Join(folder, "upstream-auto"))
	if err != nil {
		return fmt.Errorf("measuring Karpenter's own suite at SPEED=auto: %w", err)
	}

	slow, others := sample(bent)
	t.speed, t.procs = "1", "1"
	for _, o := range slices.Concat(slow, others) {
		t.specs = append(t.specs, o.ID)
	}
	step(fmt.Sprintf("measuring both at SPEED=1, of the catalogue %d of %d specs; its progress is in %s",
		len(t.specs), len(bent), filepath.Join(folder, "catalogue-1", trialLog)))
	var still []report.Outcome
	var ownStill map[string]types.SpecState
	var ownAlone time.Duration
	group, within := errgroup.WithContext(ctx)
	group.Go(func() (err error) {
		still, err = t.run(within, binary, filepath.Join(folder, "catalogue-1"))
		return err
	})
	group.Go(func() (err error) {
		ownStill, ownAlone, err = upstreamAt(within, "1", filepath.Join(folder, "upstream-1"))
		return err
	})
	if err := group.Wait(); err != nil {
		return fmt.Errorf("measuring at SPEED=1: %w", err)
	}
	figures := slices.Concat(compareCatalogue(bent, still, slow, took),
		compareUpstream(ownBent, ownStill, ownTook, ownAlone))
	return publish(figures, filepath.Join(c.Artifacts, "bench-suites.json"))
}

// compareCatalogue compares the whole catalogue at SPEED=auto with its sample at SPEED=1. slow
// are the longest specs. Each other spec of the sample counts ten times.
func compareCatalogue(bent, still, slow []report.Outcome, took time.Duration) []figure {
	differ := 0
	var alone time.Duration
	for _, o := range still {
		is := func(b report.Outcome) bool { return b.ID == o.ID }
		if b := bent[slices.IndexFunc(bent, is)]; b.Verdict != o.Verdict {
			differ++
			fmt.Printf("%s: %s at SPEED=auto, %s at SPEED=1 (%s)\n", o.ID, b.Verdict, o.Verdict, firstLine(o.Reason))
		}
		if slices.ContainsFunc(slow, is) {
			alone += o.Took
		} else {
			alone += o.Took * oneIn
		}
	}
	return []figure{
		{Name: "the catalogue at SPEED=1 PROCS=1, by a sample", Value: alone.Minutes(), Unit: "min"},
		{Name: "the catalogue at SPEED=auto", Value: took.Minutes(), Unit: "min"},
		{
			Name: "the catalogue at SPEED=auto, as a share of SPEED=1", Value: 100 * took.Seconds() / alone.Seconds(),
			Unit: "%", Bound: 5,
		},
		{Name: "specs of the sample whose verdicts differ", Value: float64(differ), Unit: fmt.Sprintf("of %d", len(still))},
	}
}

// compareUpstream compares verdicts and duration of Karpenter's own suite at both speeds.
func compareUpstream(bent, still map[string]types.SpecState, took, alone time.Duration) []figure {
	differ := 0
	for name, state := range still {
		if bent[name] != state {
			differ++
			fmt.Printf("%s: %s at SPEED=auto, %s at SPEED=1\n", name, bent[name], state)
		}
	}
	return []figure{
		{Name: "Karpenter's own suite at SPEED=1", Value: alone.Minutes(), Unit: "min"},
		{Name: "Karpenter's own suite at SPEED=auto", Value: took.Minutes(), Unit: "min"},
		{Name: "its specs whose verdicts differ", Value: float64(differ), Unit: fmt.Sprintf("of %d", len(still))},
	}
}

// sample returns the specs that took longest by their clusters' clocks, and every tenth of the
// others. It leaves out skipped specs.
func sample(outcomes []report.Outcome) (slow, others []report.Outcome) {
	ran := slices.DeleteFunc(slices.Clone(outcomes), func(o report.Outcome) bool { return o.Verdict == report.Skipped })
	slices.SortStableFunc(ran, func(a, b report.Outcome) int { return cmp.Compare(b.Took, a.Took) })
	slow, rest := ran[:min(longest, len(ran))], ran[min(longest, len(ran)):]
	for i := oneIn / 2; i < len(rest); i += oneIn { // the middle of each ten
		others = append(others, rest[i])
	}
	return slow, others
}

// upstreamAt runs Karpenter's own suite at a speed and returns its verdicts by spec name. It
// starts a process for it, because the suite's clock also becomes its process's.
func upstreamAt(ctx context.Context, speed, folder string) (map[string]types.SpecState, time.Duration, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, 0, err
	}
	cmd := exec.CommandContext(ctx, self, "upstream")
	cmd.Env = append(os.Environ(), "SPEED="+speed, "ARTIFACTS="+folder)
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = 2 * time.Minute
	began := time.Now()
	err = cmd.Run()
	took := time.Since(began)
	var exit *exec.ExitError
	switch {
	case ctx.Err() != nil:
		return nil, 0, context.Cause(ctx)
	case err != nil && !errors.As(err, &exit): // failed specs are no error
		return nil, 0, err
	}
	r, err := readUpstream(filepath.Join(folder, "latest", upstreamFile))
	states := map[string]types.SpecState{}
	for _, s := range r.SpecReports.WithLeafNodeType(types.NodeTypeIt) {
		states[s.FullText()] = s.State
	}
	return states, took, err
}
