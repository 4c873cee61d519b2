package main

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/report"
)

const mergeHelp = `name the folder with the parts: make merge DIR=parts

Each part is the artifacts of a run with SHARD, such as SHARD=2/4, wherever it lies below the
folder: of "make e2e", "make vacuity", "make lies" or "make recall". The whole is written
among the artifacts like any other run. A part that is missing is named, and the whole isn't green`

// merge joins the parts of a run that several machines have shared.
func merge(_ context.Context, args []string) error {
	c, err := e2e.FromEnv()
	if err != nil {
		return err
	}
	if len(args) != 1 || args[0] == "" {
		return errors.New(mergeHelp)
	}
	if _, err := os.Stat(args[0]); err != nil {
		return fmt.Errorf("DIR=%s: %w\n%s", args[0], err, mergeHelp)
	}
	return mergeParts(c.Artifacts, args[0])
}

// mergeParts joins the parts below a folder, of whichever run, into a new run's folder among the artifacts.
func mergeParts(artifacts, folder string) error {
	parts, err := findLiesParts(folder)
	if err != nil {
		return err
	}
	if len(parts) > 0 {
		return mergeLies(artifacts, parts)
	}
	return e2e.Merge(folder, artifacts, os.Stdout)
}

// liesPart is the report of a part of the lies.
type liesPart struct {
	folder string
	liesReport
}

func (p liesPart) name() string {
	return fmt.Sprintf("part %d/%d (%s)", p.Part.Number, p.Part.Of, p.folder)
}

// findLiesParts returns the parts of a run of lies below a folder, by their numbers.
func findLiesParts(folder string) (parts []liesPart, err error) {
	var mistakes []error
	err = filepath.WalkDir(folder, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.Name() != liesFile || !entry.Type().IsRegular() {
			return err
		}
		p := liesPart{folder: filepath.Dir(path)}
		switch err := readJSON(path, &p.liesReport); {
		case err != nil:
			mistakes = append(mistakes, err)
		case p.Part == nil:
			mistakes = append(mistakes, fmt.Errorf("%s is a whole run, not a part of one", p.folder))
		default:
			parts = append(parts, p)
		}
		return nil
	})
	slices.SortFunc(parts, func(a, b liesPart) int {
		return cmp.Or(cmp.Compare(a.Part.Number, b.Part.Number), strings.Compare(a.folder, b.folder))
	})
	return parts, errors.Join(append(mistakes, err)...)
}

// mergeLies joins the parts of a run of lies.
func mergeLies(artifacts string, parts []liesPart) error {
	all, missing, err := joinLies(parts)
	if err != nil {
		return err
	}
	run, err := e2e.NewRunFolder(artifacts)
	if err != nil {
		return err
	}
	all.finish(specsOf(allSuites()))
	if err := writeJSON(filepath.Join(run, liesFile), all); err != nil {
		return err
	}
	return errors.Join(all.print(os.Stdout), missing, all.verdict())
}

// joinLies returns the report that all parts make together, and which parts are missing. The error says why they are
// not of one run.
func joinLies(parts []liesPart) (all *liesReport, missing, err error) {
	first, number := parts[0], map[int]string{}
	all = &liesReport{Complete: true}
	for _, p := range parts {
		if p.Part.Of != first.Part.Of || p.Part.Deal != first.Part.Deal {
			err = errors.Join(err, fmt.Errorf("%s and %s are of different runs: they have not shared the same lies",
				first.name(), p.name()))
		}
		if other, twice := number[p.Part.Number]; twice {
			err = errors.Join(err, fmt.Errorf("%s is there twice, also in %s", p.name(), other))
		}
		number[p.Part.Number] = p.folder
		all.Lies = append(all.Lies, p.Lies...)
		all.Honest.Specs += p.Honest.Specs
		all.Honest.Red = append(all.Honest.Red, p.Honest.Red...)
		all.Complete = all.Complete && p.Complete
		all.Took = max(all.Took, p.Took)
	}
	for n := 1; n <= first.Part.Of; n++ {
		if _, there := number[n]; !there {
			missing = errors.Join(missing, fmt.Errorf("part %d/%d is missing", n, first.Part.Of))
			all.Complete = false
		}
	}
	slices.SortStableFunc(all.Lies, func(a, b liesRow) int { return strings.Compare(a.Name, b.Name) })
	return all, missing, err
}

// partOf says which part of some lies a shard has; nil: all of them.
func partOf(s e2e.Shard, lies []lie) *report.Part {
	if s.Whole() {
		return nil
	}
	var names []string
	for _, l := range lies {
		names = append(names, l.Name)
	}
	sum := sha256.Sum256([]byte(strings.Join(names, "\n")))
	return &report.Part{Number: s.Part, Of: s.Of, Deal: hex.EncodeToString(sum[:])}
}
