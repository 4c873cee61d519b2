package report

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"time"

	"github.com/onsi/ginkgo/v2/reporters"
	"github.com/onsi/ginkgo/v2/types"
)

// Names of entries in Ginkgo's reports. In JUnit's they are properties of a test case.
const (
	SpanEntry    = "real time" // a Span, written by the worker
	clusterEntry = "cluster time in seconds"
)

// Span holds when something ran, in real time unless stated otherwise.
type Span struct {
	Started time.Time `json:"started"`
	Ended   time.Time `json:"ended"`
}

// WriteInRealTime rewrites Ginkgo's JSON report of a run, and writes it as JUnit XML too.
// Ginkgo's times are cluster time. They are translated to real time with the Span of each
// spec. A spec's duration in cluster time becomes a property of it.
func WriteInRealTime(jsonFile, junitFile string, run Span) error {
	r, err := readReport(jsonFile)
	if err != nil {
		return err
	}
	r.StartTime, r.EndTime, r.RunTime = run.Started, run.Ended, run.Ended.Sub(run.Started)
	for i := range r.SpecReports {
		if err := inRealTime(&r.SpecReports[i], run); err != nil {
			return fmt.Errorf("the report by Ginkgo, %s: %w", jsonFile, err)
		}
	}
	return errors.Join(reporters.GenerateJSONReport(r, jsonFile), reporters.GenerateJUnitReport(r, junitFile))
}

// readReport reads Ginkgo's JSON report of a run.
func readReport(file string) (types.Report, error) {
	data, err := os.ReadFile(file)
	if err != nil {
		return types.Report{}, fmt.Errorf("the report by Ginkgo: %w", err)
	}
	var reports []types.Report
	if err := json.Unmarshal(data, &reports); err != nil {
		return types.Report{}, fmt.Errorf("the report by Ginkgo, %s: %w", file, err)
	}
	if len(reports) != 1 {
		return types.Report{}, fmt.Errorf("the report by Ginkgo, %s: want one run, got %d", file, len(reports))
	}
	return reports[0], nil
}

// MergeReports joins Ginkgo's JSON reports of the parts of a run, at least one, and writes the result as JUnit XML too.
// Their times are real.
func MergeReports(parts []string, jsonFile, junitFile string, run Span) error {
	var all types.Report
	for i, file := range parts {
		r, err := readReport(file)
		if err != nil {
			return err
		}
		if i == 0 {
			all = r
			continue
		}
		all.SuiteSucceeded = all.SuiteSucceeded && r.SuiteSucceeded
		all.SpecialSuiteFailureReasons = append(all.SpecialSuiteFailureReasons, r.SpecialSuiteFailureReasons...)
		all.PreRunStats.TotalSpecs += r.PreRunStats.TotalSpecs
		all.PreRunStats.SpecsThatWillRun += r.PreRunStats.SpecsThatWillRun
		all.SpecReports = append(all.SpecReports, r.SpecReports...)
	}
	all.StartTime, all.EndTime, all.RunTime = run.Started, run.Ended, run.Ended.Sub(run.Started)
	return errors.Join(reporters.GenerateJSONReport(all, jsonFile), reporters.GenerateJUnitReport(all, junitFile))
}

// inRealTime translates all times of a spec. A killed spec has no span: its times are clamped
// to the run's.
func inRealTime(s *types.SpecReport, run Span) error {
	if s.StartTime.IsZero() { // it was not run
		return nil
	}
	if s.EndTime.IsZero() { // it was skipped because the run was interrupted
		s.EndTime = s.StartTime
	}
	cluster := Span{s.StartTime, s.EndTime}
	real := Span{run.clamp(s.StartTime), run.clamp(s.EndTime)}
	if i := slices.IndexFunc(s.ReportEntries, func(e types.ReportEntry) bool { return e.Name == SpanEntry }); i >= 0 {
		entry := &s.ReportEntries[i]
		if err := json.Unmarshal([]byte(entry.Value.AsJSON), &real); err != nil {
			return fmt.Errorf("the %s of %q: %w", SpanEntry, s.FullText(), err)
		}
		entry.Name, entry.Value = clusterEntry, types.WrapEntryValue(s.RunTime.Seconds())
	}
	s.StartTime, s.EndTime, s.RunTime = real.Started, real.Ended, real.Ended.Sub(real.Started)
	translate := func(t *time.Time) { *t = cluster.translate(*t, real) }
	translate(&s.Failure.TimelineLocation.Time)
	for i := range s.AdditionalFailures {
		translate(&s.AdditionalFailures[i].Failure.TimelineLocation.Time)
	}
	for i := range s.ReportEntries {
		translate(&s.ReportEntries[i].Time)
		translate(&s.ReportEntries[i].TimelineLocation.Time)
	}
	for i := range s.ProgressReports {
		translate(&s.ProgressReports[i].TimelineLocation.Time)
	}
	for i := range s.SpecEvents {
		e := &s.SpecEvents[i]
		began := e.TimelineLocation.Time.Add(-e.Duration)
		translate(&e.TimelineLocation.Time)
		translate(&began)
		if e.Duration > 0 {
			e.Duration = e.TimelineLocation.Time.Sub(began)
		}
	}
	return nil
}

// clamp returns t, or the nearest end of the span if t is outside it.
func (s Span) clamp(t time.Time) time.Time {
	if t.Before(s.Started) {
		return s.Started
	}
	if t.After(s.Ended) {
		return s.Ended
	}
	return t
}

// translate returns the proportional position of t in another span. An unset time stays unset.
func (s Span) translate(t time.Time, to Span) time.Time {
	whole := s.Ended.Sub(s.Started)
	if t.IsZero() || whole <= 0 {
		return t
	}
	share := s.clamp(t).Sub(s.Started).Seconds() / whole.Seconds()
	return to.Started.Add(time.Duration(share * float64(to.Ended.Sub(to.Started))))
}
