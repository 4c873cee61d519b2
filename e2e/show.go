package e2e

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/plumbline-e2e/plumbline/e2e/history"
	"github.com/plumbline-e2e/plumbline/e2e/report"
	"github.com/plumbline-e2e/plumbline/e2e/timeline"
)

// recordingEnding is what the names of recordings end with.
const recordingEnding = ".jsonl.gz"

// Format is a form of timelines.
type Format struct {
	// Name is what FORMAT says.
	Name   string
	ending string // of files
	write  func(io.Writer, ...*timeline.Timeline) error
}

// Formats returns all formats, the default first.
func Formats() []Format {
	return []Format{
		{"html", ".html", timeline.WriteHTML},
		{"perfetto", ".perfetto-trace", timeline.WritePerfetto},
	}
}

// WriteTimeline writes the timeline of a recording beside it, and returns the file's path. If the recording lies in
// a run's folder, the timeline has the spec's verdict, and the logs of the controller and the simulated cloud. Another
// recording may be shown on the same axis. Of both, only the window is shown.
func WriteTimeline(f Format, w Window, recording string, beside ...string) (string, error) {
	var all []*timeline.Timeline
	for _, file := range append([]string{recording}, beside...) {
		t, err := ReadTimeline(file, w)
		if err != nil {
			return "", err
		}
		all = append(all, t)
	}
	file := f.file(recording)
	return file, f.writeFile(file, all...)
}

// file returns the path of a recording's timeline.
func (f Format) file(recording string) string {
	return strings.TrimSuffix(recording, recordingEnding) + f.ending
}

func (f Format) writeFile(file string, timelines ...*timeline.Timeline) error {
	var text bytes.Buffer
	if err := f.write(&text, timelines...); err != nil {
		return err
	}
	return os.WriteFile(file, text.Bytes(), 0o644)
}

// Window is a part of a recording, from one moment to another. The zero value is all of it.
type Window struct{ From, To Moment }

// Moment is a moment of a recording. The zero value is its start, or its end.
type Moment struct {
	At    time.Time     // the time of day, or
	After time.Duration // since the recording began
}

// ParseMoment returns a moment from a time such as 2026-01-02T15:04:05Z, a duration since the recording began such as
// 20m, or nothing.
func ParseMoment(text string) (m Moment, err error) {
	if text == "" {
		return m, nil
	}
	if m.At, err = time.Parse(time.RFC3339, text); err == nil {
		return m, nil
	}
	if m.After, err = time.ParseDuration(text); err == nil && m.After > 0 {
		return m, nil
	}
	return m, fmt.Errorf("%q: it should be a time such as 2026-01-02T15:04:05Z, or as long after the start as 20m", text)
}

// of returns the time of a moment of a recording; zero for the zero moment.
func (m Moment) of(h *history.History) time.Time {
	if m.After > 0 {
		return h.Start().Time().Add(m.After)
	}
	return m.At
}

// ReadTimeline returns the timeline of a recording's part, with what its run's folder knows of it.
func ReadTimeline(recording string, w Window) (*timeline.Timeline, error) {
	return timelineOf(recording, w, outcomeOf(runOf(recording), filepath.Base(recording)))
}

// runOf returns the run's folder of a recording: histories are in a folder of it.
func runOf(recording string) string { return filepath.Dir(filepath.Dir(recording)) }

// timelineOf returns the timeline of a spec's recording. The zero outcome is of one that belongs to no run.
func timelineOf(recording string, w Window, o report.Outcome) (*timeline.Timeline, error) {
	h, err := history.LoadFile(recording)
	if err != nil {
		return nil, err
	}
	h = h.Between(w.From.of(h), w.To.of(h))
	title := strings.TrimSuffix(filepath.Base(recording), recordingEnding)
	if o.ID != "" {
		title = fmt.Sprintf("%s %s [%s]", o.Sentence(), o.Verdict, o.ID)
	}
	var broken []timeline.Broken
	for _, b := range o.Broke {
		broken = append(broken, timeline.Broken{Number: b.Event, Text: b.What})
	}
	t, err := timeline.Make(title, h, broken)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", recording, err)
	}
	if o.Real > 0 {
		t.Speed = o.Took.Seconds() / o.Real.Seconds()
	}
	t.Logs, err = readLogs(runOf(recording), o.Worker, t.Start, h.Taken())
	return t, err
}

// outcomeOf returns the outcome of the spec with a recording; the zero one if the folder is no run's.
func outcomeOf(run, recording string) report.Outcome {
	outcomes, err := Outcomes(run)
	if err != nil {
		return report.Outcome{}
	}
	i := slices.IndexFunc(outcomes, func(o report.Outcome) bool { return filepath.Base(o.History) == recording })
	if i < 0 {
		return report.Outcome{}
	}
	return outcomes[i]
}

// readLogs returns what the controllers and the simulated clouds of a worker's clusters logged between two times.
func readLogs(run string, worker int, from, to time.Time) (lines []timeline.Note, err error) {
	for _, log := range []struct{ container, source string }{
		{"controller", "controller's log"}, {"simulator", "simulated cloud"},
	} {
		files, err := logFiles(filepath.Join(run, "logs", fmt.Sprintf("worker-%d.*", worker)), log.container)
		if err != nil {
			return nil, err
		}
		for _, file := range files {
			text, err := os.ReadFile(file)
			if err != nil {
				return nil, err
			}
			for line := range bytes.Lines(text) {
				if at, text, ok := logLine(line); ok && !at.Before(from) && !at.After(to) {
					lines = append(lines, timeline.Note{At: at.Sub(from).Seconds(), Text: text, Source: log.source})
				}
			}
		}
	}
	slices.SortStableFunc(lines, func(a, b timeline.Note) int { return cmp.Compare(a.At, b.At) })
	return lines, nil
}

// logFiles returns the files with a container's log in the folder of a cluster's logs: one for each pod, or, of kind's
// export, one for each run of the container on a node.
func logFiles(folder, container string) ([]string, error) {
	files, err := filepath.Glob(filepath.Join(folder, "*_"+container+".log"))
	if err != nil {
		return nil, err
	}
	exported, err := filepath.Glob(filepath.Join(folder, "*", "pods", "*", container, "*.log"))
	return append(files, exported...), err
}

// runtimePrefix is what container runtimes write before each line (Kubernetes: pkg/kubelet/kuberuntime/logs).
var runtimePrefix = regexp.MustCompile(`^\S+ std(out|err) [FP] `)

// untold are fields of a log line that say nothing to people, or are told before the others.
var untold = []string{
	"level", "time", "logger", "message", "msg", "reconcileID", "namespace", "name", "controllerGroup", "controllerKind",
}

// logLine returns a line of a JSON log for people: of Karpenter's (zap), or of a simulator's (slog).
func logLine(line []byte) (at time.Time, text string, ok bool) {
	var fields map[string]any
	if json.Unmarshal(runtimePrefix.ReplaceAll(line, nil), &fields) != nil {
		return at, "", false
	}
	stamp, _ := fields["time"].(string)
	at, err := time.Parse(time.RFC3339Nano, stamp)
	message, _ := fields["message"].(string)
	if message == "" {
		message, _ = fields["msg"].(string)
	}
	if err != nil || message == "" {
		return at, "", false
	}
	if level, _ := fields["level"].(string); level != "INFO" {
		message = level + " " + message
	}
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		if slices.Contains(untold, name) {
			continue
		}
		value, err := json.Marshal(fields[name])
		if err != nil {
			continue
		}
		message += fmt.Sprintf("  %s=%s", name, value)
	}
	return at, message, true
}

// writeTimelines writes the timelines of a run's red specs.
func writeTimelines(outcomes []report.Outcome) error {
	html := Formats()[0]
	var group errgroup.Group
	group.SetLimit(4)
	for _, o := range outcomes {
		if !o.Verdict.Red() || o.History == "" {
			continue
		}
		group.Go(func() error {
			t, err := timelineOf(o.History, Window{}, o)
			if errors.Is(err, os.ErrNotExist) {
				return nil
			}
			if err != nil {
				return err
			}
			return html.writeFile(html.file(o.History), t)
		})
	}
	return group.Wait()
}
