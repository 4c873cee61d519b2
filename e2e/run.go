package e2e

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/onsi/ginkgo/v2/types"

	"github.com/plumbline-e2e/plumbline/e2e/build"
	"github.com/plumbline-e2e/plumbline/e2e/build/launch"
	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/e2e/env"
	"github.com/plumbline-e2e/plumbline/e2e/report"
	"github.com/plumbline-e2e/plumbline/providers"
)

// reserve is the part of the test's time limit that is kept for ending clusters. After the
// limit `go test` kills the process.
const reserve = 45 * time.Second

// Run acts as a whole test function: it tests a provider against suites.
//
//	func TestConformance(t *testing.T) {
//		e2e.Run(t, providers.Load("plumbline.yaml"), suites.All()...)
//	}
//
// It checks everything that needs no cluster and reports all mistakes together. It builds what
// is not in the cache. Then it starts the test binary again under the Ginkgo CLI, in PROCS
// worker processes with a cluster each, and shows their progress. A test binary may call Run
// several times, because the workers are separate processes. Config lists the environment
// variables that it reads.
//
// `go test` stops after ten minutes by default: pass -timeout=0.
func Run(t *testing.T, a *providers.Adapter, suites ...*Suite) {
	t.Helper()
	if folder := os.Getenv(runVariable); folder != "" {
		work(t, folder, a, suites)
		return
	}
	ctx, stop := lifetime(t)
	defer stop(nil)
	if err := runWorkers(ctx, t.Name(), os.Stderr, a, suites); err != nil {
		fmt.Fprintf(os.Stderr, "\n✗ %s\n", strings.ReplaceAll(err.Error(), "\n", "\n  "))
		t.FailNow()
	}
}

// endless is Ginkgo's time limit for all specs of a worker: a century. Workers count in
// cluster time, and Ginkgo takes no limit as its default, an hour.
const endless = "876000h"

// errRed means that specs failed. The terminal has shown that already.
var errRed = errors.New("the run is not green")

// lifetime returns the context of a run. It ends on Ctrl-C, shortly before the test's
// deadline, and when the parent process ends.
func lifetime(t *testing.T) (context.Context, context.CancelCauseFunc) {
	ctx, cancel := context.WithCancelCause(t.Context())
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	var deadline <-chan time.Time
	if d, ok := t.Deadline(); ok {
		deadline = time.After(time.Until(d) - reserve)
	}
	go func() {
		defer signal.Stop(signals)
		select {
		case s := <-signals:
			cancel(fmt.Errorf("%w (%s)", env.ErrInterrupted, s))
		case <-deadline:
			cancel(fmt.Errorf("the test's deadline is near; run it with -timeout=0: %w", context.DeadlineExceeded))
		case <-parentEnded():
			cancel(fmt.Errorf("%w: the process that started it is gone", env.ErrInterrupted))
		case <-ctx.Done():
		}
	}()
	return ctx, cancel
}

// parentEnded returns a channel that is closed when the parent process ends.
func parentEnded() <-chan struct{} {
	gone := make(chan struct{})
	parent := os.Getppid()
	go func() {
		for range time.Tick(500 * time.Millisecond) {
			if os.Getppid() != parent {
				close(gone)
				return
			}
		}
	}()
	return gone
}

// checkSuites returns all mistakes in an adapter, in suites, and in what is asked of them.
func (c Config) checkSuites(a *providers.Adapter, suites []*Suite) error {
	return errors.Join(a.Validate(), checkIDsDiffer(suites), unknownKnownFailures(a, suites), c.checkUpgrades(suites))
}

// runWorkers checks, prepares, starts the workers and shows their progress.
func runWorkers(ctx context.Context, test string, out io.Writer, a *providers.Adapter, suites []*Suite) error {
	c, err := FromEnv()
	if err = errors.Join(err, c.checkSuites(a, suites)); err != nil {
		return err
	}
	dealt, specs, err := c.deal(a, suites)
	if err != nil {
		return err
	}
	total := len(specs)
	c.Procs = min(c.Procs, total)
	steps := func(step string) { fmt.Fprintf(out, "· %s\n", step) }
	reaped, err := c.Reap(ctx)
	if err != nil {
		return err
	}
	for _, name := range reaped {
		steps("ended what a dead run left behind: " + name)
	}
	if c.Release, err = resolveRelease(ctx, c, a, steps); err != nil {
		return err
	}
	plan, err := Prepare(ctx, c, a, steps)
	if err != nil {
		return err
	}
	c.Speed = plan.Setup.Speed                                              // 1 if clocks can't be bent here
	c.controller, c.upgradedTo = plan.Controller(ctx), plan.UpgradesTo(ctx) // before their tags move
	cli, err := ginkgoCLI(ctx, plan.Cache)
	if err != nil {
		return err
	}
	starter, err := launch.Starter(ctx, plan.Cache)
	if err != nil {
		return err
	}
	took := readDurations(plan.Cache.Dir)
	run, err := c.begin(starter, took, dealt)
	if err != nil {
		return err
	}
	terminal := report.NewTerminal(out, total, c.Procs)
	terminal.Part = !c.Shard.Whole()
	steps(fmt.Sprintf("%s of %s on Kubernetes %s (%s), %d at a time, at speed %s",
		c.share(total), c.subject(a), c.Kubernetes, c.Cluster, c.Procs, c.Speed))
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	err = follow(ctx, stop, command(ctx, cli, run, test, c), run, terminal)
	if _, err2 := c.Reap(context.WithoutCancel(ctx)); err2 != nil {
		err = errors.Join(err, err2)
	}
	written := report.WriteInRealTime(filepath.Join(run, reportFile), filepath.Join(run, junitFile), terminal.Span())
	if err == nil || !errors.Is(written, fs.ErrNotExist) { // otherwise Ginkgo failed before it wrote one
		err = errors.Join(err, written)
	}
	took.learn(terminal.Outcomes())
	err = errors.Join(err, took.write(plan.Cache.Dir),
		c.conformance(c.Gated(a), suites, terminal.Conformance()).Write(filepath.Join(run, ConformanceFile)))
	err = errors.Join(err, writeTimelines(terminal.Outcomes()))
	err = errors.Join(err, WritePage(run, steps)) // of what was written before
	green := terminal.Summary(short(filepath.Join(c.Artifacts, latestLink)))
	if err == nil && !green {
		err = errRed
	}
	return err
}

// begin makes the folder of the run, with all that its workers read.
func (c *Config) begin(starter string, took durations, d deal) (run string, err error) {
	if run, err = NewRunFolder(c.Artifacts); err != nil {
		return "", err
	}
	err = errors.Join(writeWorker(filepath.Join(run, testBinary), starter), took.write(run))
	if !c.Shard.Whole() {
		c.dealt = &d
		err = errors.Join(err, d.write(run))
	}
	return run, err
}

// share says how many specs run, and of which part.
func (c Config) share(total int) string {
	text := check.Words(total, "specs")
	if !c.Shard.Whole() {
		text += fmt.Sprintf(" (part %s)", c.Shard)
	}
	return text
}

// resolveRelease returns the release to select. For a branch or a commit that is the version
// that it stands for now, so that all workers test the same, and the report says what.
func resolveRelease(ctx context.Context, c Config, a *providers.Adapter, say func(string)) (string, error) {
	asked := cmp.Or(c.Release, a.Source.Version)
	if a.Source.Module == "" || a.Controller.Build != nil && a.Controller.Build.Module != "" {
		return c.Release, nil
	}
	cache, err := build.Open(say)
	if err != nil {
		return "", err
	}
	release, err := cache.Resolve(ctx, a.Source.Module, asked)
	if err != nil || strings.TrimPrefix(release, "v") == strings.TrimPrefix(asked, "v") {
		return c.Release, err
	}
	say(fmt.Sprintf("%s of %s is %s", asked, a.Source.Module, release))
	return release, nil
}

// ginkgoCLI returns the Ginkgo CLI in the version that is linked here. Both must be the same.
func ginkgoCLI(ctx context.Context, cache *build.Cache) (string, error) {
	return cache.Main(ctx, "github.com/onsi/ginkgo/v2", "v"+types.VERSION, "./ginkgo", runtime.GOOS, runtime.GOARCH)
}

// command returns the command that runs this test binary in worker processes.
func command(ctx context.Context, cli, run, test string, c Config) *exec.Cmd {
	args := []string{
		"run", fmt.Sprintf("--procs=%d", c.Procs), "--timeout=" + endless, "--no-color", "--grace-period=90s",
		"--output-interceptor-mode=none",
		"--output-dir=" + run, "--json-report=" + reportFile, "--fail-on-empty", "--silence-skips",
		"--label-filter=" + runLabel, // workers declare only the selected specs
	}
	if c.FailFast {
		args = append(args, "--fail-fast")
	}
	args = append(args, filepath.Join(run, testBinary), "--", "-test.run=^"+regexp.QuoteMeta(test)+"$")
	cmd := exec.CommandContext(ctx, cli, args...)
	cmd.Env = append(os.Environ(), runVariable+"="+run, fmt.Sprintf("%s=%d", leaderVariable, os.Getpid()),
		"SPEED="+c.Speed.String(), "KARPENTER="+c.Release)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // only we pass Ctrl-C on, once
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGINT) }
	cmd.WaitDelay = 2 * time.Minute
	return cmd
}

// follow starts the workers and shows their messages until they end. An error that keeps them
// from writing is shown at once and stops them.
func follow(ctx context.Context, stop context.CancelCauseFunc, cmd *exec.Cmd, run string,
	terminal *report.Terminal,
) error {
	log, err := os.Create(filepath.Join(run, "ginkgo.log"))
	if err != nil {
		return err
	}
	defer log.Close()
	messages, err := os.Open(filepath.Join(run, progressFile))
	if err != nil {
		return err
	}
	defer messages.Close()
	cmd.Stdout, cmd.Stderr = log, log
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("starting the workers: %w", err)
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()

	follower := report.Follow(messages)
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	fatal := false
	for ticks := 0; ; ticks++ {
		var exit error
		running := true
		select {
		case <-tick.C:
		case exit = <-ended:
			running = false
		}
		news, err := follower.Next()
		for _, m := range news {
			fatal = show(terminal, m) || fatal
		}
		if err != nil || ticks%10 == 0 { // once a second
			err = cmp.Or(room(run), err)
		}
		if err != nil && ctx.Err() == nil {
			terminal.Fatal(err.Error())
			stop(err)
		}
		switch {
		case running:
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case exit != nil && !fatal && !slices.ContainsFunc(terminal.Outcomes(), func(o report.Outcome) bool {
			return o.Verdict.Red()
		}):
			return fmt.Errorf("the workers ended badly (%w), though no spec did; see %s", exit, log.Name())
		case exit != nil:
			return errRed
		default:
			return nil // the specs' verdicts decide
		}
	}
}

// show prints a message and reports whether it is fatal.
func show(t *report.Terminal, m report.Message) bool {
	switch {
	case m.Outcome != nil:
		t.Add(*m.Outcome)
	case m.Cluster != nil:
		t.On(*m.Cluster)
	case m.Step != "":
		t.Step(m.Step)
	case m.Fatal != "":
		t.Fatal(m.Fatal)
		return true
	}
	return false
}
