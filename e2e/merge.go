package e2e

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/e2e/report"
)

// ranPart is the folder of a part of a run, and what it says.
type ranPart struct {
	folder string
	ran    []string // the IDs of the specs that have ended
	report.Conformance
}

// name identifies the part in messages.
func (p ranPart) name() string {
	return fmt.Sprintf("part %d/%d (%s)", p.Part.Number, p.Part.Of, p.folder)
}

// Merge joins the parts of a run, wherever they lie below a folder, into a new run's folder among the artifacts, and
// shows it as the run itself would have been. Parts of different runs are refused, and so are two of the same. What a
// missing part or one that ended early has not run is named; such a run is not green.
func Merge(folder, artifacts string, out io.Writer) error {
	parts, err := findParts(folder)
	if err != nil {
		return err
	}
	d, err := sameRun(parts)
	if err != nil {
		return err
	}
	missing, err := d.missing(parts)
	if err != nil {
		return err
	}
	run, err := NewRunFolder(artifacts)
	if err != nil {
		return err
	}
	terminal := report.NewTerminal(io.Discard, d.specs(), 1)
	for _, p := range parts {
		err = errors.Join(err, p.mergeInto(run, terminal))
	}
	span := spanOf(parts)
	err = errors.Join(err, mergeReports(run, parts, span), d.write(run),
		mergedConformance(parts, d, terminal.Conformance(), span).Write(filepath.Join(run, ConformanceFile)))
	if err == nil {
		err = WritePage(run, func(step string) { fmt.Fprintf(out, "· %s\n", step) })
	}
	if err != nil {
		return err
	}
	green := terminal.Merged(out, span, short(run))
	switch {
	case missing != nil:
		return missing
	case !green:
		return errRed
	default:
		return nil
	}
}

// findParts returns the parts of a run below a folder, by their numbers. The error has all mistakes.
func findParts(folder string) (parts []ranPart, err error) {
	var mistakes []error
	err = filepath.WalkDir(folder, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.Name() != ConformanceFile || !entry.Type().IsRegular() {
			return err
		}
		p := ranPart{folder: filepath.Dir(path)}
		if p.Conformance, err = report.ReadConformance(path); err != nil {
			mistakes = append(mistakes, err)
			return nil
		}
		if p.Part == nil {
			mistakes = append(mistakes, fmt.Errorf("%s is a whole run, not a part of one", p.folder))
			return nil
		}
		outcomes, err := Outcomes(p.folder)
		for _, o := range outcomes {
			p.ran = append(p.ran, o.ID)
		}
		parts = append(parts, p)
		return err
	})
	if err == nil && len(parts)+len(mistakes) == 0 {
		err = fmt.Errorf("there is no run below %s: no folder has a %s", folder, ConformanceFile)
	}
	slices.SortFunc(parts, func(a, b ranPart) int {
		return cmp.Or(cmp.Compare(a.Part.Number, b.Part.Number), strings.Compare(a.folder, b.folder))
	})
	return parts, errors.Join(append(mistakes, err)...)
}

// sameRun returns the deal of the parts, or why they are not of one run: all that differs, and all that is there twice.
func sameRun(parts []ranPart) (deal, error) {
	var mistakes []error
	first := parts[0]
	for i, p := range parts {
		for _, what := range differences(first.Conformance, p.Conformance) {
			mistakes = append(mistakes, fmt.Errorf("%s and %s are of different runs: %s", first.name(), p.name(), what))
		}
		if i > 0 && p.Part.Number == parts[i-1].Part.Number {
			mistakes = append(mistakes, fmt.Errorf("%s is there twice, also in %s", p.name(), parts[i-1].folder))
		}
	}
	d, err := readDeal(first.folder)
	if err == nil && d.hash() != first.Part.Deal {
		err = fmt.Errorf("%s: its %s is not that of its %s", first.name(), dealFile, ConformanceFile)
	}
	return d, errors.Join(append(mistakes, err)...)
}

// kubernetes names what a part that skipped all its specs doesn't say.
const kubernetes = "Kubernetes"

// differences returns in what two parts are not of the same run.
func differences(a, b report.Conformance) (all []string) {
	for _, field := range []struct{ name, a, b string }{
		{"the provider", a.Provider, b.Provider},
		{"its version", a.Version, b.Version},
		{"the adapter", a.Adapter, b.Adapter},
		{"the controller", fmt.Sprint(a.Controller), fmt.Sprint(b.Controller)},
		{"the upgrade", upgradeText(a.To), upgradeText(b.To)},
		{"the gates", fmt.Sprint(a.Gates), fmt.Sprint(b.Gates)},
		{"the selection", a.Selection, b.Selection},
		{"the harness", a.Plumbline, b.Plumbline},
		{kubernetes, kubernetesOf(a), kubernetesOf(b)},
		{"the number of parts", fmt.Sprint(a.Part.Of), fmt.Sprint(b.Part.Of)},
		{"which specs each part has", a.Part.Deal, b.Part.Deal},
	} {
		if field.a != field.b && (field.name != kubernetes || field.a != "" && field.b != "") {
			all = append(all, fmt.Sprintf("%s is %q and %q", field.name, field.a, field.b))
		}
	}
	return all
}

func upgradeText(u *report.Upgrade) string {
	if u == nil {
		return ""
	}
	return fmt.Sprint(*u)
}

// kubernetesOf returns the kinds of cluster of a part, without their speeds.
func kubernetesOf(c report.Conformance) string {
	var all []string
	for _, on := range c.Clusters {
		on.Speed = ""
		if text := fmt.Sprintf("%+v", on); !slices.Contains(all, text) {
			all = append(all, text)
		}
	}
	slices.Sort(all)
	return strings.Join(all, ", ")
}

// specs returns how many specs all parts have.
func (d deal) specs() (n int) {
	for _, part := range d.Parts {
		n += len(part)
	}
	return n
}

// missing returns what has not run, nil if nothing has not, and an error if a spec is where it doesn't belong.
func (d deal) missing(parts []ranPart) (missing, wrong error) {
	times := map[string]int{}
	for _, p := range parts {
		for _, id := range p.ran {
			times[id]++
		}
	}
	for i, ids := range d.Parts {
		at := slices.IndexFunc(parts, func(p ranPart) bool { return p.Part.Number == i+1 })
		var left []string
		for _, id := range ids {
			switch n := times[id]; {
			case n == 0:
				left = append(left, id)
			case n > 1:
				wrong = errors.Join(wrong, fmt.Errorf("%s has run %d times", id, n))
			}
			delete(times, id)
		}
		switch {
		case at < 0:
			missing = errors.Join(missing, fmt.Errorf("part %d/%d is missing, with %s", i+1, len(d.Parts),
				check.Words(len(ids), "specs")))
		case len(left) > 0:
			missing = errors.Join(missing, fmt.Errorf("%s ended before %s", parts[at].name(), strings.Join(left, ", ")))
		}
	}
	for id := range times {
		wrong = errors.Join(wrong, fmt.Errorf("%s is in no part", id))
	}
	return missing, wrong
}

// mergeInto copies the part's recordings, timelines and logs into a run's folder, and adds its messages to the run's.
func (p ranPart) mergeInto(run string, terminal *report.Terminal) error {
	from, err := os.Open(filepath.Join(p.folder, progressFile))
	if err != nil {
		return err
	}
	defer from.Close()
	messages, err := report.Follow(from).Next()
	if err != nil {
		return fmt.Errorf("%s: %w", p.name(), err)
	}
	to, err := report.OpenProgress(filepath.Join(run, progressFile))
	if err != nil {
		return err
	}
	defer to.Close()
	for _, m := range messages {
		switch {
		case m.Outcome != nil:
			if m.Outcome.History != "" { // where it was on the part's machine
				m.Outcome.History = filepath.Join(run, historiesFolder, filepath.Base(m.Outcome.History))
			}
			terminal.Add(*m.Outcome)
		case m.Cluster != nil:
			terminal.On(*m.Cluster)
		}
		err = errors.Join(err, to.Send(m))
	}
	for folder, into := range map[string]string{
		historiesFolder: historiesFolder, "logs": filepath.Join("logs", fmt.Sprintf("part-%d", p.Part.Number)),
	} {
		if _, missing := os.Stat(filepath.Join(p.folder, folder)); missing != nil {
			continue
		}
		err = errors.Join(err, copyFiles(filepath.Join(p.folder, folder), filepath.Join(run, into)))
	}
	return err
}

// copyFiles copies the files of a folder into another one, which may have others.
func copyFiles(from, to string) error {
	return filepath.WalkDir(from, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		below, err := filepath.Rel(from, path)
		if err != nil {
			return err
		}
		if entry.IsDir() {
			return os.MkdirAll(filepath.Join(to, below), 0o755)
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		return os.WriteFile(filepath.Join(to, below), data, 0o644)
	})
}

// spanOf returns when the first part began and the last one ended.
func spanOf(parts []ranPart) (all report.Span) {
	for _, p := range parts {
		took, _ := time.ParseDuration(p.Took) // as it was written
		ended := p.Started.Add(took)
		if all.Started.IsZero() || p.Started.Before(all.Started) {
			all.Started = p.Started
		}
		if ended.After(all.Ended) {
			all.Ended = ended
		}
	}
	return all
}

// mergeReports joins Ginkgo's reports of parts, those that have one.
func mergeReports(run string, parts []ranPart, span report.Span) error {
	var files []string
	for _, p := range parts {
		if file := filepath.Join(p.folder, reportFile); present(p.folder, reportFile) != "" {
			files = append(files, file)
		}
	}
	if len(files) == 0 { // all ended before they wrote one
		return nil
	}
	return report.MergeReports(files, filepath.Join(run, reportFile), filepath.Join(run, junitFile), span)
}

// mergedConformance returns what all parts prove together.
func mergedConformance(parts []ranPart, d deal, proven report.Conformance, span report.Span) report.Conformance {
	all := parts[0].Conformance
	all.Part, all.Complete = nil, d.Whole && proven.NotReached == 0
	all.Started, all.Took = span.Started, span.Ended.Sub(span.Started).String()
	all.Clusters, all.Green, all.NotReached = proven.Clusters, proven.Green, proven.NotReached
	all.Counts, all.Specs = proven.Counts, proven.Specs
	slices.SortFunc(all.Specs, func(a, b report.Proof) int { return strings.Compare(a.ID, b.ID) })
	return all
}
