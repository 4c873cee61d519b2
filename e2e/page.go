package e2e

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/plumbline-e2e/plumbline/e2e/report"
	"github.com/plumbline-e2e/plumbline/e2e/report/page"
)

// PageFile is the file in a run's folder that shows the run in a browser.
const PageFile = "index.html"

// earlierRuns is how many earlier runs a page shows at most.
const earlierRuns = 20

// WritePage writes PageFile into a run's folder, from what else is in it. progress tells what it passes over.
func WritePage(run string, progress func(string)) error {
	shown, err := ReadRun(run, progress)
	if err != nil {
		return err
	}
	file, err := os.Create(filepath.Join(run, PageFile))
	if err != nil {
		return err
	}
	return errors.Join(shown.Write(file), file.Close())
}

// ReadRun reads a run's folder. Earlier runs of the same provider are those in the folders beside
// it; progress tells which of them can't be read. A run that was cut off is read as far as it came.
func ReadRun(run string, progress func(string)) (*page.Run, error) {
	run, err := filepath.EvalSymlinks(run) // such as "latest"
	if err != nil {
		return nil, err
	}
	outcomes, err := Outcomes(run)
	if err != nil {
		return nil, fmt.Errorf("%s is no folder of a run: %w", run, err)
	}
	read := &page.Run{Name: filepath.Base(run), Outcomes: outcomes, Links: linksOf(run, outcomes)}
	read.Conformance, err = report.ReadConformance(filepath.Join(run, ConformanceFile))
	if read.Ended = err == nil; !read.Ended && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	if !read.Ended && len(outcomes) > 0 {
		read.Provider = outcomes[0].Provider
	}
	read.Earlier, err = earlier(run, read.Provider, progress)
	return read, err
}

// linksOf returns links to what a run's folder has of each spec.
func linksOf(run string, outcomes []report.Outcome) map[string]page.Links {
	all := map[string]page.Links{}
	for _, o := range outcomes {
		if o.History == "" {
			continue
		}
		recording := filepath.Join(historiesFolder, filepath.Base(o.History))
		all[o.ID] = page.Links{
			Recording: present(run, recording),
			Timeline:  present(run, Formats()[0].file(recording)),
		}
	}
	return all
}

// present returns a link to a file in a run's folder, or "" if it isn't there.
func present(run, file string) string {
	if _, err := os.Stat(filepath.Join(run, file)); err != nil {
		return ""
	}
	return filepath.ToSlash(file)
}

// earlier returns the runs of a provider that began before a run, from the folders beside it: the latest ones, the
// oldest first. A folder that isn't a run's, or is of one that was cut off, is passed over; so is one that can't be
// read, since a run must not fail because of another, but progress tells it.
func earlier(run, provider string, progress func(string)) (all []page.Earlier, err error) {
	files, err := filepath.Glob(filepath.Join(filepath.Dir(run), "*", ConformanceFile))
	if err != nil {
		return nil, err
	}
	for _, file := range files {
		name := filepath.Base(filepath.Dir(file))
		if name >= filepath.Base(run) { // names begin with the time; "latest" comes after all
			continue
		}
		c, err := report.ReadConformance(file)
		if err != nil {
			progress(fmt.Sprintf("an earlier run is left out of the page: %s", err))
			continue
		}
		if c.Provider == provider {
			all = append(all, page.Earlier{Conformance: c, Name: name})
		}
	}
	slices.SortFunc(all, func(a, b page.Earlier) int {
		return cmp.Or(a.Started.Compare(b.Started), cmp.Compare(a.Name, b.Name))
	})
	return all[max(0, len(all)-earlierRuns):], nil
}
