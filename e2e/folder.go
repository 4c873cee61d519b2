package e2e

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/plumbline-e2e/plumbline/e2e/build/launch"
	"github.com/plumbline-e2e/plumbline/e2e/report"
)

// testBinary is the program that the Ginkgo CLI starts in worker processes. The CLI recognizes
// compiled tests by the suffix.
const testBinary = "workers.test"

// latestLink is the link to the folder of the latest run.
const latestLink = "latest"

// progressFile is the file for the workers' messages, in the run's folder.
const progressFile = "progress.jsonl"

// ConformanceFile is the file in a run's folder with what the run proves of the provider.
const ConformanceFile = "conformance.yaml"

// historiesFolder is the folder for recordings and their timelines, in the run's folder.
const historiesFolder = "histories"

// Ginkgo's report in the run's folder, as JSON and as JUnit XML.
const (
	reportFile = "report.json"
	junitFile  = "junit.xml"
)

// Outcomes returns the outcomes in a run's folder so far, in the order in which specs ended.
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

// NewRunFolder creates a run's folder among the artifacts and points the link "latest" at it.
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

// spare is the space that a run's folder must always have free: about what compressing a
// recording needs in addition to the recording.
const spare = 1 << 20 // bytes

// room returns why a run's folder can't take more data, or nil.
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

// logFolder returns the folder for the logs of a worker's session number n.
func logFolder(run string, worker, n int) string {
	return filepath.Join(run, "logs", fmt.Sprintf("worker-%d.%d", worker, n))
}

// writeWorker writes the program that the Ginkgo CLI starts: this executable, in the current
// folder. The CLI would use the program's folder, where relative paths lead elsewhere.
func writeWorker(path, starter string) error {
	exe, err := os.Executable()
	if err != nil {
		return err
	}
	wd, err := os.Getwd()
	if err != nil {
		return err
	}
	return launch.Command{Dir: wd, Words: []string{exe}}.Write(path, starter)
}

// short returns a path for people: relative, if it is below the working directory.
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
