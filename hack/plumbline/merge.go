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
folder: of "make e2e", "make vacuity", "make lies", "make recall", "make crash", "make faults" or "make explore". The
whole is written among the artifacts like any other run. A part that is missing is named, and the whole isn't green`

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
	lies, err := findParts(folder, liesFile, func(r liesReport) *report.Part { return r.Part })
	struck, err2 := findParts(folder, planFile, func(p faultsPlan) *report.Part { return p.Part })
	explorations, err3 := findParts(folder, exploredFile, func(e explored) *report.Part { return e.Part })
	switch err := errors.Join(err, err2, err3); {
	case err != nil:
		return err
	case len(lies) > 0:
		return mergeLies(artifacts, lies)
	case len(struck) > 0:
		return mergeFaults(artifacts, struck)
	case len(explorations) > 0:
		return mergeExplorations(artifacts, explorations)
	}
	return e2e.Merge(folder, artifacts, os.Stdout)
}

// foundPart is a part of a run of T: the folder in which it lies, and what its file says.
type foundPart[T any] struct {
	folder string
	part   report.Part
	said   T
}

func (p foundPart[T]) name() string {
	return fmt.Sprintf("part %d/%d (%s)", p.part.Number, p.part.Of, p.folder)
}

// findParts returns the parts of a run below a folder, by their numbers: the folders with such a file. The error has
// all mistakes.
func findParts[T any](folder, file string, partOf func(T) *report.Part) (parts []foundPart[T], err error) {
	var mistakes []error
	err = filepath.WalkDir(folder, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.Name() != file || !entry.Type().IsRegular() {
			return err
		}
		p := foundPart[T]{folder: filepath.Dir(path)}
		err = readJSON(path, &p.said)
		switch part := partOf(p.said); {
		case err != nil:
			mistakes = append(mistakes, err)
		case part == nil:
			mistakes = append(mistakes, fmt.Errorf("%s is a whole run, not a part of one", p.folder))
		default:
			p.part = *part
			parts = append(parts, p)
		}
		return nil
	})
	slices.SortFunc(parts, func(a, b foundPart[T]) int {
		return cmp.Or(cmp.Compare(a.part.Number, b.part.Number), strings.Compare(a.folder, b.folder))
	})
	return parts, errors.Join(append(mistakes, err)...)
}

// checkParts returns which parts are missing. The error says why they are not of one run, and which are there twice.
func checkParts[T any](parts []foundPart[T]) (missing, err error) {
	first, number := parts[0], map[int]string{}
	for _, p := range parts {
		if p.part.Of != first.part.Of || p.part.Deal != first.part.Deal {
			err = errors.Join(err, fmt.Errorf("%s and %s are of different runs: they have not shared the same", first.name(),
				p.name()))
		}
		if other, twice := number[p.part.Number]; twice {
			err = errors.Join(err, fmt.Errorf("%s is there twice, also in %s", p.name(), other))
		}
		number[p.part.Number] = p.folder
	}
	for n := 1; n <= first.part.Of; n++ {
		if _, there := number[n]; !there {
			missing = errors.Join(missing, fmt.Errorf("part %d/%d is missing", n, first.part.Of))
		}
	}
	return missing, err
}

// mergeLies joins the parts of a run of lies.
func mergeLies(artifacts string, parts []foundPart[liesReport]) error {
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
	if all.Recall {
		err = all.writeRecall()
	}
	return errors.Join(err, all.print(os.Stdout), missing, all.verdict())
}

// joinLies returns the report that all parts make together, and which parts are missing. The error says why they are
// not of one run.
func joinLies(parts []foundPart[liesReport]) (all *liesReport, missing, err error) {
	missing, err = checkParts(parts)
	all = &liesReport{Complete: missing == nil, Recall: parts[0].said.Recall}
	for _, p := range parts {
		all.Lies = append(all.Lies, p.said.Lies...)
		all.Honest.Specs += p.said.Honest.Specs
		all.Honest.Red = append(all.Honest.Red, p.said.Honest.Red...)
		all.Honest.Took += p.said.Honest.Took
		all.Complete = all.Complete && p.said.Complete
		all.Took = max(all.Took, p.said.Took)
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
