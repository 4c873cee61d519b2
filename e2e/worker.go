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

// Variables by which the leading process tells a worker what it is.
const (
	runVariable    = "PLUMBLINE_RUN_FOLDER"
	leaderVariable = "PLUMBLINE_LEADER_PID"
)

// runLabel tells the specs of Run from others that the test binary declares.
const runLabel = "plumbline-run"

// work runs the specs that Ginkgo gives to this process.
func work(t *testing.T, run string, a *providers.Adapter, suites []*Suite) {
	t.Helper()
	c, err := FromEnv()
	if err != nil {
		t.Fatal(err) // the leader has checked: only reached if somebody sets the variable by hand
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
		again: func(o report.Outcome) string { return again(c.Rerun, t.Name(), o) },
	}
	r.declare(suites, runLabel)
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

// followLeader interrupts this worker when the leading process is gone, so
// that its cluster ends also when the leader was killed.
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

// again is the command that runs a spec alone, given the command that people run, or the
// name of the test. There is nothing in it to quote, for a shell or for make.
func again(command, test string, o report.Outcome) string {
	focus := "FOCUS=^" + o.ID + "$"
	if command == "" {
		return fmt.Sprintf("%s go test -count=1 -timeout=0 -run '^%s$'", focus, test)
	}
	return command + " " + focus
}
