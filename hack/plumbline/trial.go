package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/report"
)

// trialLog holds the output of a trial, in its folder.
const trialLog = "log.txt"

// trial is one run of some specs against one provider.
type trial struct {
	name     string            // of its folder
	provider string            // for PROVIDER
	lie      string            // for LIE; empty: honest
	release  string            // for KARPENTER; empty: the adapter's
	gates    string            // for GATES
	specs    []string          // their IDs
	labels   string            // for LABELS, which select from specs
	speed    string            // for SPEED; empty: the user's
	procs    string            // for PROCS; empty: by cores and memory
	test     string            // of the binary; empty: that of `make e2e`
	rerun    string            // the command for users, if speed is set
	vars     map[string]string // other variables
	out      io.Writer         // gets the output too; nil: only the log does
}

// run runs the specs with the test binary of `make e2e`, in their own folder, and returns
// their outcomes. Red specs are no error, but specs that did not run are.
func (t trial) run(ctx context.Context, binary, folder string) ([]report.Outcome, error) {
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return nil, err
	}
	log, err := os.Create(filepath.Join(folder, trialLog))
	if err != nil {
		return nil, err
	}
	defer log.Close()
	cmd := exec.CommandContext(ctx, binary, "-test.run", cmp.Or(t.test, "^TestConformance$"))
	cmd.Env = t.environ(os.Environ(), folder)
	cmd.Stdout, cmd.Stderr = log, log
	if t.out != nil {
		both := io.MultiWriter(log, t.out)
		cmd.Stdout, cmd.Stderr = both, both
	}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // only we pass Ctrl-C on, once
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGINT) }
	cmd.WaitDelay = 2 * time.Minute
	err = cmd.Run()
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		return nil, err
	}
	outcomes, err := e2e.Outcomes(filepath.Join(folder, "latest"))
	if err != nil {
		return nil, fmt.Errorf("it ended before its specs began; see %s", log.Name())
	}
	for _, s := range t.specs {
		if !slices.ContainsFunc(outcomes, func(o report.Outcome) bool { return o.ID == s }) {
			return outcomes, fmt.Errorf("it ended before %s did; see %s", s, log.Name())
		}
	}
	return outcomes, nil
}

// environ returns the user's environment with the trial's values for what selects specs.
func (t trial) environ(user []string, folder string) []string {
	focus := ""
	if len(t.specs) > 0 {
		focus = "^(" + strings.Join(t.specs, "|") + ")$"
	}
	ours := map[string]string{
		"PROVIDER": t.provider, "LIE": t.lie, "KARPENTER": t.release, "GATES": t.gates,
		"FOCUS": focus, "PROCS": t.procs, "ARTIFACTS": folder,
		"PLUMBLINE_RERUN": "make lies LIE=" + t.lie, "SKIP": "", "LABELS": t.labels, "IMAGE": "", "KEEP": "",
		"SHARD": "", "JOB_COMPLETION_INDEX": "", // trials are dealt, not their specs
	}
	if t.speed != "" {
		ours["SPEED"], ours["PLUMBLINE_RERUN"] = t.speed, t.rerun+" SPEED="+t.speed
	}
	maps.Copy(ours, t.vars)
	return withVariables(user, ours)
}

// withVariables returns an environment with other values of some variables.
func withVariables(environ []string, values map[string]string) []string {
	environ = slices.DeleteFunc(slices.Clone(environ), func(kv string) bool {
		name, _, _ := strings.Cut(kv, "=")
		_, set := values[name]
		return set
	})
	for name, value := range values {
		environ = append(environ, name+"="+value)
	}
	return environ
}
