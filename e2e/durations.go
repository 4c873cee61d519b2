package e2e

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/plumbline-e2e/plumbline/e2e/report"
)

// durationsFile holds how long specs took. The cache has each spec's last run. A run's folder
// has what was known at its start, so that all workers see the same.
const durationsFile = "durations.json"

// durations holds how long specs took in real time, by provider and ID.
type durations map[string]time.Duration

// readDurations reads a file. It ignores errors, because durations only decide an order.
func readDurations(folder string) durations {
	d := durations{}
	data, err := os.ReadFile(filepath.Join(folder, durationsFile))
	if err != nil || json.Unmarshal(data, &d) != nil {
		return durations{}
	}
	return d
}

// learn adds how long the specs took that were run.
func (d durations) learn(outcomes []report.Outcome) {
	for _, o := range outcomes {
		if o.Verdict != report.Skipped {
			d[o.Provider+" "+o.ID] = o.Wall()
		}
	}
}

// write replaces the file whole or not at all.
func (d durations) write(folder string) error {
	data, err := json.MarshalIndent(d, "", " ")
	if err != nil {
		return err
	}
	fresh, err := os.CreateTemp(folder, durationsFile+".*")
	if err != nil {
		return err
	}
	_, err = fresh.Write(data)
	if err = errors.Join(err, fresh.Close()); err == nil {
		err = os.Rename(fresh.Name(), filepath.Join(folder, durationsFile))
	}
	if gone := os.Remove(fresh.Name()); !errors.Is(gone, fs.ErrNotExist) {
		err = errors.Join(err, gone)
	}
	return err
}

// expected returns how long a spec is expected to take: as long as last time, or its time
// limit if it never ran here.
func (d durations) expected(provider string, spec *Spec) time.Duration {
	if took, known := d[provider+" "+spec.id]; known {
		return took
	}
	return spec.timeLimit()
}
