package main

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/onsi/ginkgo/v2/types"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/build"
	"github.com/plumbline-e2e/plumbline/e2e/session"
)

// upstreamFile holds the verdicts of Karpenter's own suite, in the run's folder.
const upstreamFile = "upstream.json"

// upstreamGates are the gates that Karpenter's Makefile sets for tests. GATES replaces them.
var upstreamGates = map[string]bool{"NodeRepair": true, "CapacityBuffer": true, "StaticCapacity": true}

// upstream runs a released suite of Karpenter's own against a cluster. SPEED bends the clock
// of the cluster and of the suite.
func upstream(ctx context.Context, _ []string) error {
	c, a, err := selected()
	if err != nil {
		return err
	}
	if c.Gates == nil {
		c.Gates = upstreamGates
	}
	cache, err := build.Open(step)
	if err != nil {
		return err
	}
	release, suite := cmp.Or(c.Release, a.Source.Version), cmp.Or(os.Getenv("SUITE"), "regression")
	if err := checkSuite(ctx, cache, a.Source.Module, release, suite); err != nil {
		return err
	}
	tests, folder, err := cache.Tests(ctx, a.Source.Module, release, suitesFolder+"/"+suite)
	if err != nil {
		return err
	}
	plan, err := e2e.Prepare(ctx, c, a, step)
	if err != nil {
		return err
	}
	run, err := e2e.NewRunFolder(c.Artifacts)
	if err != nil {
		return err
	}
	started, err := plan.Start(ctx, fmt.Sprintf("%s-%d-upstream", a.Name, os.Getpid()), filepath.Join(run, "logs"))
	if err != nil {
		return err
	}
	u := &upstreamRun{
		session: started, tests: tests, folder: folder, report: filepath.Join(run, upstreamFile),
		began: time.Now(),
	}
	err = u.run(ctx, filepath.Join(run, "upstream.log"), c)
	return errors.Join(err, started.Close(context.WithoutCancel(ctx)))
}

// suitesFolder holds Karpenter's suites, one package each.
const suitesFolder = "./test/suites"

// checkSuite checks that a release has a suite. The error lists its suites.
func checkSuite(ctx context.Context, cache *build.Cache, module, release, suite string) error {
	dir, err := cache.Module(ctx, module, release)
	if err != nil {
		return err
	}
	entries, err := os.ReadDir(filepath.Join(dir, filepath.FromSlash(suitesFolder)))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	var names []string
	for _, e := range entries {
		if e.IsDir() {
			names = append(names, e.Name())
		}
	}
	switch {
	case len(names) == 0:
		return fmt.Errorf("%s %s has no suites in %s", module, release, suitesFolder)
	case !slices.Contains(names, suite):
		return fmt.Errorf("SUITE=%s: %s %s has no such suite; use one of %s", suite, module, release,
			strings.Join(names, ", "))
	}
	return nil
}

type upstreamRun struct {
	session *session.Session
	tests   string // path of the program
	folder  string // its working directory
	report  string
	began   time.Time
}

// run runs the suite and shows the verdict of each spec, then all failed specs. It writes the
// suite's output to the log.
func (u *upstreamRun) run(ctx context.Context, log string, c e2e.Config) error {
	words, err := os.Create(log)
	if err != nil {
		return err
	}
	defer words.Close()
	step("running " + filepath.Base(u.folder) + "; its log is " + log)
	began := u.realTime()
	line := []string{u.tests}
	if u.session.Clock != nil {
		line = u.session.Clock.Command("upstream", u.tests)
	}
	line = append(line, "-test.timeout=0", "-ginkgo.timeout=876000h", "-ginkgo.grace-period=15m", "-ginkgo.v",
		"-ginkgo.no-color",
		"-ginkgo.json-report="+u.report)
	if c.Focus != nil {
		line = append(line, "-ginkgo.focus="+c.Focus.String())
	}
	if c.Skip != nil {
		line = append(line, "-ginkgo.skip="+c.Skip.String())
	}
	cmd := exec.CommandContext(ctx, line[0], line[1:]...) //nolint:gosec // it is ours
	cmd.Dir = u.folder
	cmd.Env = append(os.Environ(), "KUBECONFIG="+u.session.Cluster.Kubeconfig())
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	cmd.WaitDelay = 10 * time.Second
	out, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	cmd.Stderr = words
	if err := cmd.Start(); err != nil {
		return err
	}
	follow(io.TeeReader(out, words), os.Stdout)
	ended := cmd.Wait()
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return u.summarize(u.realTime()-began, ended)
}

func (u *upstreamRun) realTime() time.Duration {
	if u.session.Clock == nil {
		return time.Since(u.began)
	}
	return u.session.Clock.Real()
}

// specEnded matches Ginkgo's line for the end of a spec.
var specEnded = regexp.MustCompile(`^[•PS] (?:\[(\w+)\] )?\[([0-9.]+ seconds)\]`)

// follow shows each spec that ends. Ginkgo writes a spec's name at its start, between a line
// of dashes and its place in the source.
func follow(said io.Reader, out io.Writer) {
	lines := bufio.NewScanner(said)
	lines.Buffer(nil, 1<<24)
	var name []string
	naming := false
	for n := 1; lines.Scan(); {
		line := lines.Text()
		switch m := specEnded.FindStringSubmatch(line); {
		case m != nil:
			fmt.Fprintf(out, "[%2d] %-8s %16s  %s\n", n, cmp.Or(strings.ToLower(m[1]), "passed"), m[2], strings.Join(name, " "))
			n++
		case line == strings.Repeat("-", 30):
			name, naming = nil, true
		case strings.Contains(line, ".go:"):
			naming = false
		case naming:
			name = append(name, strings.TrimSpace(line))
		}
	}
}

func readUpstream(file string) (types.Report, error) {
	data, err := os.ReadFile(file)
	if err != nil {
		return types.Report{}, fmt.Errorf("the suite has left no report: %w", err)
	}
	var reports []types.Report
	if err := json.Unmarshal(data, &reports); err != nil || len(reports) != 1 {
		return types.Report{}, fmt.Errorf("the suite's report %s can't be read: %w", file, err)
	}
	return reports[0], nil
}

// summarize counts the verdicts in the suite's report and lists the failed specs.
func (u *upstreamRun) summarize(took time.Duration, ended error) error {
	r, err := readUpstream(u.report)
	if err != nil {
		return errors.Join(err, ended)
	}
	counts := map[types.SpecState]int{}
	for _, s := range r.SpecReports.WithLeafNodeType(types.NodeTypeIt) {
		counts[s.State]++
		if s.Failed() {
			first, _, _ := strings.Cut(s.FailureMessage(), "\n")
			fmt.Printf("✗ %s\n    %s\n", s.FullText(), first)
		}
	}
	failed := counts[types.SpecStateFailed] + counts[types.SpecStatePanicked] + counts[types.SpecStateTimedout]
	fmt.Printf("%d passed, %d failed, %d skipped in %s (%s by the cluster's clock); %s\n",
		counts[types.SpecStatePassed], failed, counts[types.SpecStateSkipped]+counts[types.SpecStatePending],
		took.Round(time.Second), r.RunTime.Round(time.Second), u.report)
	if failed > 0 {
		return errors.New("the suite is not green")
	}
	return ended
}
