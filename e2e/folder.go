package e2e

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/plumbline-e2e/plumbline/e2e/report"
)

// testBinary is the name of the program that the Ginkgo CLI starts in worker
// processes; it tells compiled tests by their ending.
const testBinary = "workers.test"

// latestLink leads to the folder of the latest run.
const latestLink = "latest"

// progressFile is where workers send their messages, in the run's folder.
const progressFile = "progress.jsonl"

// ConformanceFile is what a run proves of the provider, in its folder.
const ConformanceFile = "conformance.yaml"

// Ginkgo's report of a run, in its folder, and the same as JUnit's XML.
const (
	reportFile = "report.json"
	junitFile  = "junit.xml"
)

// Outcomes reads what a run's folder tells of its specs so far, in the order
// in which they ended.
func Outcomes(run string) ([]report.Outcome, error) {
	file, err := os.Open(filepath.Join(run, progressFile))
	if err != nil {
		return nil, err
	}
	defer file.Close()
	messages, err := report.Follow(file).Next()
	var all []report.Outcome
	for _, m := range messages {
		if m.Outcome != nil {
			all = append(all, *m.Outcome)
		}
	}
	return all, err
}

// NewRunFolder makes the folder of one run among the artifacts and points the
// link "latest" at it.
func NewRunFolder(artifacts string) (string, error) {
	run := filepath.Join(artifacts, fmt.Sprintf("%s-%d", time.Now().UTC().Format("20060102-150405"), os.Getpid()))
	if err := os.MkdirAll(run, 0o755); err != nil {
		return "", fmt.Errorf("folder for artifacts: %w; ARTIFACTS chooses another", err)
	}
	link := filepath.Join(artifacts, latestLink)
	fresh := fmt.Sprintf("%s.%d", link, os.Getpid())
	if err := os.Symlink(filepath.Base(run), fresh); err != nil {
		return "", fmt.Errorf("folder for artifacts: %w", err)
	}
	if err := os.Rename(fresh, link); err != nil {
		return "", fmt.Errorf("folder for artifacts: %w", err)
	}
	return run, os.WriteFile(filepath.Join(run, progressFile), nil, 0o644)
}

// spare is what the folder of a run must be able to take at any time: about as much as a
// recording needs beside itself when it is compressed.
const spare = 1 << 20 // bytes

// room returns why the folder of a run can't take any more, or nil.
func room(run string) error {
	file, err := os.CreateTemp(run, ".room-")
	if err == nil {
		_, err = file.Write(make([]byte, spare))
		err = errors.Join(err, file.Close(), os.Remove(file.Name()))
	}
	if err != nil {
		return fmt.Errorf("the folder for artifacts can't take any more (ARTIFACTS chooses another): %w", err)
	}
	return nil
}

// logFolder is where a worker's session number n puts its logs.
func logFolder(run string, worker, n int) string {
	return filepath.Join(run, "logs", fmt.Sprintf("worker-%d.%d", worker, n))
}

// writeWorker writes the program that the Ginkgo CLI starts: this executable,
// in the folder where it was started, since the CLI would start it in that of
// the program and relative paths would lead elsewhere.
func writeWorker(path string) error {
	exe, err := os.Executable()
	if err != nil {
		return err
	}
	wd, err := os.Getwd()
	if err != nil {
		return err
	}
	script := fmt.Sprintf("#!/bin/sh\ncd %s && exec %s \"$@\"\n", shellQuote(wd), shellQuote(exe))
	return os.WriteFile(path, []byte(script), 0o755) //nolint:gosec // it must be executable
}

// shellQuote makes one word of s for a POSIX shell.
func shellQuote(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }

// short is a path as people like to read it: relative, if that leads down.
func short(path string) string {
	wd, err := os.Getwd()
	if err != nil {
		return path
	}
	if rel, err := filepath.Rel(wd, path); err == nil && filepath.IsLocal(rel) {
		return rel
	}
	return path
}
