package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"
	"time"

	"github.com/onsi/ginkgo/v2"

	"github.com/plumbline-e2e/plumbline/e2e/report"
	"github.com/plumbline-e2e/plumbline/providers"
)

// Variables that the leading process sets for a worker.
const (
	runVariable    = "PLUMBLINE_RUN_FOLDER"
	leaderVariable = "PLUMBLINE_LEADER_PID"
)

// runLabel distinguishes the specs of Run from others that the test binary declares.
const runLabel = "plumbline-run"

// work runs the specs that Ginkgo gives to this process.
func work(t *testing.T, run string, a *providers.Adapter, suites []*Suite) {
	t.Helper()
	c, err := FromEnv()
	if err != nil {
		t.Fatal(err) // the leader has checked it: the variable was set by hand
	}
	c.tried = true
	progress, err := report.OpenProgress(filepath.Join(run, progressFile))
	if err != nil {
		t.Fatal(err)
	}
	defer progress.Close()
	followLeader()

	r := &Registration{
		adapter: a, run: run, progress: progress, config: &c,
		again: func(o report.Outcome) string { return rerunCommand(c.Rerun, t.Name(), o) },
	}
	if os.Getenv(serveVariable) == "" {
		r.declare(suites, runLabel)
	} else if err := r.declareServer(suites); err != nil {
		t.Fatal(err)
	}
	ginkgo.BeforeSuite(inRealTime(func(ctx ginkgo.SpecContext) {
		if err := r.ensure(interruptible(ctx)); err != nil {
			if ctx.Err() == nil {
				r.send(report.Message{Fatal: err.Error()})
			}
			ginkgo.Fail(err.Error())
		}
	}))
	ginkgo.AfterSuite(inRealTime(func(ctx ginkgo.SpecContext) {
		if err := r.Close(ctx); err != nil {
			r.send(report.Message{Fatal: fmt.Sprintf("ending the cluster: %v", err)})
			ginkgo.Fail(err.Error())
		}
	}))
	suiteConfig, reporterConfig := ginkgo.GinkgoConfiguration()
	ginkgo.RunSpecs(t, a.Name, suiteConfig, reporterConfig)
}

// followLeader interrupts this worker when the leading process is gone. So the worker's
// cluster ends even if the leader was killed.
func followLeader() {
	leader, err := strconv.Atoi(os.Getenv(leaderVariable))
	if err != nil {
		return
	}
	go func() {
		for range time.Tick(500 * time.Millisecond) {
			if syscall.Kill(leader, 0) == nil {
				continue
			}
			_ = syscall.Kill(os.Getpid(), syscall.SIGINT) // Ginkgo cleans up
			return
		}
	}()
}

// rerunCommand returns the command that runs a spec alone, from the user's command or the
// test's name. Neither a shell nor make needs more quotes in it.
func rerunCommand(command, test string, o report.Outcome) string {
	focus := "FOCUS=^" + o.ID + "$"
	if command == "" {
		return fmt.Sprintf("%s go test -count=1 -timeout=0 -run '^%s$'", focus, test)
	}
	return command + " " + focus
}
