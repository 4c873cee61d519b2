package main

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/compare"
	"github.com/plumbline-e2e/plumbline/e2e/report"
	"github.com/plumbline-e2e/plumbline/e2e/workload"
)

const compareHelp = `usage: plumbline compare [FLAGS]

Runs the same workload on two clusters side by side, several times, and says as ratios what the second one makes of it.
A cell is written as variables of make e2e, such as 'KARPENTER=v1.14.0 GATES=StaticCapacity=true', and SETTINGS of the
controller, such as SETTINGS=BATCH_IDLE_DURATION=5s;PREFERENCE_POLICY=Ignore. The same cell twice shows the noise.

`

// compareEvery is how often a comparison says how far it is.
const compareEvery = 15 * time.Second

// comparing is a comparison that is under way.
type comparing struct {
	compare.Comparison
	workload *workload.Workload
	argument string // the workload's, as the user named it
	bounds   []compare.Bound
	folder   string
	program  string
}

// runCompare compares two cells.
func runCompare(ctx context.Context, args []string) error {
	c, err := parseCompare(args)
	if err != nil {
		return err
	}
	if err := c.prepare(ctx); err != nil {
		return err
	}
	for _, note := range c.workload.Notes {
		step(fmt.Sprintf("workload %s: %s", c.Workload, note))
	}
	for n := 1; n <= c.Repeats && ctx.Err() == nil; n++ {
		c.pair(ctx, n)
		c.Took = time.Since(c.Started)
		c.Compare()
		if err := c.write(); err != nil {
			return err
		}
	}
	if ctx.Err() != nil && len(c.Runs) == 0 {
		return context.Cause(ctx)
	}
	fmt.Print(c.Table())
	broken := c.Judge(c.bounds)
	for _, note := range c.Notes {
		step(note)
	}
	err = c.write()
	step(fmt.Sprintf("the figures are in %s and %s", filepath.Join(c.folder, "compare.html"),
		filepath.Join(c.folder, "compare.json")))
	if ctx.Err() != nil {
		return errors.Join(err, context.Cause(ctx))
	}
	for _, f := range c.Failures {
		err = errors.Join(err, errors.New(f))
	}
	return errors.Join(err, broken)
}

// parseCompare reads the flags, or the variables in their place. The error has all mistakes.
func parseCompare(args []string) (*comparing, error) {
	c := &comparing{}
	flags := flag.NewFlagSet("compare", flag.ContinueOnError)
	flags.Usage = func() {
		fmt.Fprint(flags.Output(), compareHelp)
		flags.PrintDefaults()
	}
	a := flags.String("a", os.Getenv("A"), "the first `cell`, by which the other is divided; or the variable A")
	b := flags.String("b", os.Getenv("B"), "the second `cell`; or B")
	flags.StringVar(&c.argument, "workload", cmp.Or(os.Getenv("WORKLOAD"), "week"), "`name` ("+
		strings.Join(workload.Names(), ", ")+") or file; or WORKLOAD")
	seed := flags.String("seed", cmp.Or(os.Getenv("SEED"), "1"), "`number` that all that varies in a named workload "+
		"follows from; or SEED")
	length := flags.String("length", cmp.Or(os.Getenv("LENGTH"), "0"), "`time` after which the workload ends, such as "+
		"24h; or LENGTH")
	repeats := flags.String("repeats", cmp.Or(os.Getenv("REPEATS"), "3"), "`times` that each cell is run; or REPEATS")
	failIf := flags.String("fail-if", os.Getenv("FAIL_IF"), "`limits` of ratios, such as 'cost>1.05,moved>2'; or FAIL_IF")
	if err := flags.Parse(args); err != nil {
		return nil, err
	}
	var wrong []error
	if flags.NArg() > 0 {
		wrong = append(wrong, fmt.Errorf("%q: plumbline compare takes flags only; see plumbline compare -help",
			strings.Join(flags.Args(), " ")))
	}
	for _, cell := range []struct{ name, text string }{{"A", *a}, {"B", *b}} {
		parsed, err := compare.ParseCell(cell.name, cell.text)
		if err == nil {
			err = checkCell(parsed)
		}
		c.Cells, wrong = append(c.Cells, parsed), append(wrong, err)
	}
	if *a == "" && *b == "" {
		wrong = append(wrong, errors.New("nothing to compare: say A=KARPENTER=v1.13.0 B=KARPENTER=v1.14.0, for example"))
	}
	var err error
	if c.Seed, err = strconv.ParseUint(*seed, 10, 64); err != nil {
		wrong = append(wrong, fmt.Errorf("SEED=%s: not a whole number", *seed))
	}
	if c.Repeats, err = strconv.Atoi(*repeats); err != nil || c.Repeats < 1 {
		wrong = append(wrong, fmt.Errorf("REPEATS=%s: not a whole number from 1 up", *repeats))
	}
	shortened, err := time.ParseDuration(*length)
	if err != nil || shortened < 0 {
		wrong = append(wrong, fmt.Errorf("LENGTH=%s: not a duration such as 24h", *length))
	}
	c.workload, err = readWorkload(c.argument, c.Seed, shortened)
	if err != nil {
		wrong = append(wrong, fmt.Errorf("WORKLOAD=%s: %w", c.argument, err))
	} else {
		c.Workload, c.Length = c.workload.Name, c.workload.Length
	}
	c.bounds, err = compare.ParseBounds(*failIf)
	return c, errors.Join(append(wrong, err)...)
}

// checkCell checks a cell as `make e2e` checks its variables.
func checkCell(c compare.Cell) error {
	defer setEnvironment(c)()
	config, _, err := selected()
	if err == nil && config.Cluster != "local" {
		err = fmt.Errorf("CLUSTER=%s: a workload takes days of cluster time, which pass quickly only on local clusters",
			config.Cluster)
	}
	if err != nil {
		return fmt.Errorf("%s=%s: %w", c.Name, c.Text, err)
	}
	return nil
}

// setEnvironment makes this process's environment the cell's, until restore is called.
func setEnvironment(c compare.Cell) (restore func()) {
	before := map[string]string{}
	for name, value := range c.Environment() {
		before[name] = os.Getenv(name) // an empty variable is as good as none
		_ = os.Setenv(name, value)
	}
	return func() {
		for name, value := range before {
			_ = os.Setenv(name, value)
		}
	}
}

// prepare builds what both cells need, and makes the folder for what comes of it.
func (c *comparing) prepare(ctx context.Context) error {
	var err error
	if c.program, err = os.Executable(); err != nil {
		return err
	}
	config, err := e2e.FromEnv()
	if err != nil {
		return err
	}
	if _, err := config.Reap(ctx); err != nil {
		return err
	}
	for _, cell := range c.Cells {
		step(fmt.Sprintf("building what %s needs: %s", cell.Name, cell.Title()))
		if _, err := c.run(ctx, cell, []string{"-build"}, func(n cellNews) { step(n.Step) }); err != nil {
			return fmt.Errorf("%s=%s: %w", cell.Name, cell.Text, err)
		}
	}
	c.Started, c.Machine = time.Now(), machine()
	c.folder, err = e2e.NewRunFolder(filepath.Join(config.Artifacts, "compare"))
	return err
}

// pair runs both cells side by side for the nth time, and keeps what comes of it.
func (c *comparing) pair(ctx context.Context, n int) {
	var together sync.WaitGroup
	var mu sync.Mutex
	news := make([]cellNews, len(c.Cells))
	runs, failures := make([]*compare.Run, len(c.Cells)), make([]error, len(c.Cells))
	for i, cell := range c.Cells {
		name := fmt.Sprintf("%s-%d", strings.ToLower(cell.Name), n)
		args := []string{
			"-workload", c.argument, "-seed", strconv.FormatUint(c.Seed, 10),
			"-length", c.Length.String(), "-into", filepath.Join(c.folder, name),
			"-cluster", fmt.Sprintf("compare-%d-%s", os.Getpid(), name), "-settings", cell.Variables[compare.Settings],
		}
		together.Go(func() {
			runs[i], failures[i] = c.run(ctx, cell, args, func(latest cellNews) {
				mu.Lock()
				defer mu.Unlock()
				news[i] = latest
			})
		})
	}
	done := make(chan struct{})
	go func() { together.Wait(); close(done) }()
	c.follow(n, done, func() []cellNews {
		mu.Lock()
		defer mu.Unlock()
		return append([]cellNews(nil), news...)
	})
	for i, cell := range c.Cells {
		switch {
		case ctx.Err() != nil && failures[i] != nil: // it was interrupted
		case failures[i] != nil:
			c.Failures = append(c.Failures, fmt.Sprintf("run %d of %s: %v", n, cell.Name, failures[i]))
		case runs[i] != nil:
			runs[i].Cell, runs[i].Number = cell.Name, n
			runs[i].Recording = fmt.Sprintf("%s-%d/%s", strings.ToLower(cell.Name), n, runs[i].Recording)
			c.Runs = append(c.Runs, *runs[i])
		}
	}
}

// follow says how far a pair is, until it is done.
func (c *comparing) follow(n int, done <-chan struct{}, latest func() []cellNews) {
	began := time.Now()
	tick := time.NewTicker(compareEvery)
	defer tick.Stop()
	said := ""
	for {
		select {
		case <-done:
			return
		case <-tick.C:
		}
		var parts []string
		slowest := c.Length
		for i, news := range latest() {
			parts = append(parts, c.Cells[i].Name+" "+news.String())
			slowest = min(slowest, news.At)
		}
		text := strings.Join(parts, ", ")
		if text == said {
			continue
		}
		said = text
		if slowest > c.Length/100 {
			took := time.Since(began)
			left := time.Duration(float64(took) * float64(c.Length-slowest) / float64(slowest))
			text += fmt.Sprintf("; about %s left of this run", report.Round(left))
		}
		step(fmt.Sprintf("run %d of %d: %s", n, c.Repeats, text))
	}
}

// String returns how far a cell is.
func (n cellNews) String() string {
	if n.Step != "" || n.At == 0 {
		return cmp.Or(n.Step, "starts")
	}
	return fmt.Sprintf("at %s with %d nodes", workload.Moment(n.At), n.Nodes)
}

// run runs the process of a cell and returns what it measured.
func (c *comparing) run(ctx context.Context, cell compare.Cell, args []string,
	hear func(cellNews),
) (*compare.Run, error) {
	cmd := exec.CommandContext(ctx, c.program, append([]string{"cell"}, args...)...)
	cmd.Env = withVariables(os.Environ(), cell.Environment())
	var complaints bytes.Buffer
	cmd.Stderr = &complaints
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // only we pass Ctrl-C on, once
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGINT) }
	cmd.WaitDelay = 2 * time.Minute
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	var run *compare.Run
	lines := bufio.NewScanner(out)
	lines.Buffer(nil, 16<<20)
	for lines.Scan() {
		var n cellNews
		if json.Unmarshal(lines.Bytes(), &n) != nil {
			continue
		}
		if n.Run != nil {
			run = n.Run
			continue
		}
		hear(n)
	}
	err = cmd.Wait()
	switch {
	case ctx.Err() != nil:
		return nil, context.Cause(ctx)
	case err != nil:
		return nil, fmt.Errorf("%w: %s", err, strings.TrimPrefix(strings.TrimSpace(complaints.String()), "✗ "))
	}
	return run, lines.Err()
}

// write writes what there is so far.
func (c *comparing) write() error {
	for name, write := range map[string]func(*os.File) error{
		"compare.json": func(f *os.File) error { return c.WriteJSON(f) },
		"compare.html": func(f *os.File) error { return c.WritePage(f) },
	} {
		file, err := os.Create(filepath.Join(c.folder, name))
		if err != nil {
			return err
		}
		if err := errors.Join(write(file), file.Close()); err != nil {
			return err
		}
	}
	return nil
}
