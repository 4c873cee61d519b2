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

	"github.com/plumbline-e2e/plumbline/e2e/report"
)

// Of the catalogue, which takes hours at SPEED=1, so many of the longest specs run at
// that speed, and of the others one in so many, for all of which it stands.
const (
	longest = 10
	oneIn   = 10
)

// benchSuites measures what bending time gains: the whole catalogue, and Karpenter's
// own suite, as fast as they go and at the machine's own speed. It takes three hours.
func benchSuites(ctx context.Context, binary string) error {
	c, a, err := selected()
	if err != nil {
		return err
	}
	folder := filepath.Join(c.Artifacts, "bench")
	figures, err := all(ctx, []measurement{
		{"the catalogue", func(ctx context.Context) ([]figure, error) {
			step("its progress is in " + filepath.Join(folder, "catalogue-*", trialLog))
			return catalogueBent(ctx, trial{provider: provider(), prefix: a.Name, release: c.Release, gates: os.Getenv("GATES")}, binary, folder)
		}},
		{"Karpenter's own suite", func(ctx context.Context) ([]figure, error) { return upstreamBent(ctx, folder) }},
	})
	if err != nil {
		return err
	}
	return publish(figures, filepath.Join(c.Artifacts, "bench-suites.json"))
}

// catalogueBent runs the whole catalogue, and a sample of it at SPEED=1, one spec
// after another.
func catalogueBent(ctx context.Context, t trial, binary, folder string) ([]figure, error) {
	t.speed = "auto"
	began := time.Now()
	bent, err := t.run(ctx, binary, filepath.Join(folder, "catalogue-auto"))
	if err != nil {
		return nil, err
	}
	took := time.Since(began)

	slow, others := sample(bent)
	t.speed, t.procs = "1", "1"
	for _, o := range slices.Concat(slow, others) {
		t.specs = append(t.specs, specOf(o))
	}
	step(fmt.Sprintf("at SPEED=1, %d of %d specs", len(t.specs), len(bent)))
	still, err := t.run(ctx, binary, filepath.Join(folder, "catalogue-1"))
	if err != nil {
		return nil, err
	}
	differ := 0
	var alone time.Duration
	for _, o := range still {
		is := func(b report.Outcome) bool { return specOf(b) == specOf(o) }
		if b := bent[slices.IndexFunc(bent, is)]; b.Verdict != o.Verdict {
			differ++
			fmt.Printf("%s: %s at SPEED=auto, %s at SPEED=1 (%s)\n", specOf(o), b.Verdict, o.Verdict, firstLine(o.Reason))
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
		{Name: "the latter of the former", Value: 100 * took.Seconds() / alone.Seconds(), Unit: "%", Bound: 5},
		{Name: "specs of the sample whose verdicts differ", Value: float64(differ), Unit: fmt.Sprintf("of %d", len(still))},
	}, nil
}

// sample returns the specs that took longest by their clusters' clocks and some of
// the others. Those that were skipped take no time, and those that let a month pass
// are skipped at SPEED=1.
func sample(outcomes []report.Outcome) (slow, others []report.Outcome) {
	ran := slices.DeleteFunc(slices.Clone(outcomes), func(o report.Outcome) bool {
		return o.Verdict == report.Skipped || o.Took > 24*time.Hour
	})
	slices.SortStableFunc(ran, func(a, b report.Outcome) int { return cmp.Compare(b.Took, a.Took) })
	slow, rest := ran[:min(longest, len(ran))], ran[min(longest, len(ran)):]
	for i := oneIn / 2; i < len(rest); i += oneIn { // the middle one of each so many
		others = append(others, rest[i])
	}
	return slow, others
}

// upstreamBent runs Karpenter's own suite at both speeds.
func upstreamBent(ctx context.Context, folder string) ([]figure, error) {
	bent, fast, err := upstreamAt(ctx, "auto", filepath.Join(folder, "upstream-auto"))
	if err != nil {
		return nil, err
	}
	still, slow, err := upstreamAt(ctx, "1", filepath.Join(folder, "upstream-1"))
	if err != nil {
		return nil, err
	}
	differ := 0
	for name, state := range still {
		if bent[name] != state {
			differ++
			fmt.Printf("%s: %s at SPEED=auto, %s at SPEED=1\n", name, bent[name], state)
		}
	}
	return []figure{
		{Name: "Karpenter's own suite at SPEED=1", Value: slow.Minutes(), Unit: "min"},
		{Name: "Karpenter's own suite at SPEED=auto", Value: fast.Minutes(), Unit: "min"},
		{Name: "its specs whose verdicts differ", Value: float64(differ), Unit: fmt.Sprintf("of %d", len(still))},
	}, nil
}

// upstreamAt runs Karpenter's own suite at a speed, in a process of its own, which
// lives by that, and returns what became of its specs, by name.
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
	case err != nil && !errors.As(err, &exit): // specs that fail are no error here
		return nil, 0, err
	}
	r, err := readUpstream(filepath.Join(folder, "latest", upstreamFile))
	states := map[string]types.SpecState{}
	for _, s := range r.SpecReports.WithLeafNodeType(types.NodeTypeIt) {
		states[s.FullText()] = s.State
	}
	return states, took, err
}
