package main

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/plumbline-e2e/plumbline/e2e"
)

const conformanceUsage = `usage: plumbline conformance-table [-check] [FILE]

Checks the committed runs, providers/<provider>/conformance/<release>-k8s-<minor>.yaml,
and writes the table in providers/conformance.md and each provider's badge.json.
All files that break a rule are listed, and nothing is written then.

  FILE      adds a run first: its folder, or its conformance.yaml
  -check    write nothing; fail if what is written is out of date
`

// Places of committed runs, and of what is written from them, relative to the root of the repository.
const (
	conformanceFolder    = "conformance" // in a provider's folder
	badgeFile            = "badge.json"
	conformancePage      = "conformance.md"
	conformanceBeginning = "<!-- Written by `make conformance-table` from the files of runs. -->\n"
)

// conformanceTable writes, or checks, the table of committed runs and the badges.
func conformanceTable(_ context.Context, args []string) error {
	flags := flag.NewFlagSet("conformance-table", flag.ContinueOnError)
	flags.SetOutput(io.Discard)
	checks := flags.Bool("check", false, "")
	flags.Usage = func() { fmt.Print(conformanceUsage) }
	if err := flags.Parse(args); err != nil {
		return fmt.Errorf("conformance-table: %w", err)
	}
	switch {
	case flags.NArg() > 1 || *checks && flags.NArg() > 0:
		return fmt.Errorf("conformance-table: wanted one FILE, or -check: %q\n\n%s", flags.Args(), conformanceUsage)
	case flags.NArg() == 1:
		if err := addRun("providers", flags.Arg(0)); err != nil {
			return err
		}
	}
	wanted, err := conformanceFiles("providers")
	if err != nil {
		return err
	}
	if *checks {
		return checkFiles(wanted)
	}
	return writeFiles(wanted)
}

// addRun copies the conformance.yaml of a run to its place, if it breaks no rule.
func addRun(providers, from string) error {
	if info, err := os.Stat(from); err == nil && info.IsDir() {
		from = filepath.Join(from, e2e.ConformanceFile)
	}
	run, mistakes := readRun(from)
	if len(mistakes) > 0 {
		return refusal(mistakes)
	}
	text, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	to := filepath.Join(providers, filepath.FromSlash(run.place()))
	if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
		return err
	}
	step("adding " + to)
	return os.WriteFile(to, text, 0o644)
}

// conformanceFiles returns what is written from committed runs: the page and the badges, by their paths. Badges
// without a run have no content, since they are to be removed.
func conformanceFiles(providers string) (map[string]string, error) {
	runs, err := readCommitted(providers)
	if err != nil {
		return nil, err
	}
	page := filepath.Join(providers, conformancePage)
	text, err := withTable(page, conformanceBeginning, conformanceSection(runs))
	if err != nil {
		return nil, err
	}
	files := map[string]string{page: text}
	old, err := filepath.Glob(filepath.Join(providers, "*", conformanceFolder, badgeFile))
	if err != nil {
		return nil, err
	}
	for _, file := range old {
		files[file] = ""
	}
	for provider, of := range byProvider(runs) {
		if files[filepath.Join(providers, provider, conformanceFolder, badgeFile)], err = badge(of); err != nil {
			return nil, err
		}
	}
	return files, nil
}

// checkFiles returns an error that names the files that have another content.
func checkFiles(wanted map[string]string) error {
	var stale []string
	for file, text := range wanted {
		got, err := os.ReadFile(file)
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			return err
		}
		if !bytes.Equal(got, []byte(text)) {
			stale = append(stale, file)
		}
	}
	if len(stale) == 0 {
		return nil
	}
	slices.Sort(stale)
	return fmt.Errorf("not what the runs' files say: %s; make conformance-table", strings.Join(stale, ", "))
}

func writeFiles(wanted map[string]string) error {
	for file, text := range wanted {
		if text == "" {
			if err := os.Remove(file); err != nil {
				return err
			}
			continue
		}
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			return err
		}
	}
	return nil
}
