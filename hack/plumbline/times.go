package main

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/report"
)

// timesFile says how long specs take; see suites.All.
const timesFile = "suites/times.json"

// writeTimes writes how long the specs of a run took, over what was measured of others before. Specs that are gone are
// left out.
func writeTimes(_ context.Context, args []string) error {
	c, err := e2e.FromEnv()
	if err != nil {
		return err
	}
	folder := filepath.Join(c.Artifacts, "latest")
	if len(args) == 1 {
		folder = args[0]
	}
	outcomes, err := e2e.Outcomes(folder)
	if err != nil {
		return fmt.Errorf("there is no run to read times from: %w", err)
	}
	before := map[string]float64{}
	if err := readJSON(timesFile, &before); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	return writeJSON(timesFile, newTimes(before, outcomes, specsOf(allSuites())))
}

// newTimes returns the seconds that specs take, to a tenth.
func newTimes(before map[string]float64, outcomes []report.Outcome, specs []string) map[string]float64 {
	times := map[string]float64{}
	for _, id := range specs {
		if took, known := before[id]; known {
			times[id] = took
		}
	}
	for _, o := range outcomes {
		if o.Verdict != report.Skipped {
			times[o.ID] = math.Round(o.Wall().Seconds()*10) / 10
		}
	}
	return times
}
