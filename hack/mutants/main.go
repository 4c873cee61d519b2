// Command mutants puts mistakes into a copy of a Go module: conditions negated, boundaries moved,
// calls dropped, errors swallowed, wrong constants, fields, receivers and arguments. Each is off
// until its switch is on, so that one build holds them all.
//
// Gremlins and go-mutesting were looked at first: both build and test once for each mutant, by
// `go test`. Here a build takes a minute and the tests are specs on a cluster, so that a mutant
// must be a switch of one build.
package main

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// listFile holds the mutants, in the copy's root.
const listFile = "mutants.json"

func main() {
	var o options
	flag.StringVar(&o.source, "source", "", "the module's folder, which is left as it is")
	flag.StringVar(&o.out, "out", "", "the folder for the copy, which is replaced")
	packages := flag.String("packages", "./pkg/controllers/...", "where mistakes are made, separated by commas")
	flag.Parse()
	o.packages = strings.Split(*packages, ",")
	if err := run(o); err != nil {
		fmt.Fprintln(os.Stderr, "mutants:", err)
		os.Exit(1)
	}
}

type options struct {
	source, out string
	packages    []string
}

// run copies the module, mutates the copy, and writes the list.
func run(o options) error {
	if o.source == "" || o.out == "" {
		return errors.New("-source and -out are needed")
	}
	if err := os.RemoveAll(o.out); err != nil {
		return err
	}
	if err := copyModule(o.source, o.out); err != nil {
		return fmt.Errorf("copying %s: %w", o.source, err)
	}
	files, err := load(o.out, o.packages)
	if err != nil {
		return err
	}
	var all []mutant
	for _, f := range files {
		all = append(all, f.mutate(len(all))...)
		if err := f.write(); err != nil {
			return err
		}
	}
	if err := writeSwitches(o.out, len(all)); err != nil {
		return err
	}
	list, err := json.MarshalIndent(all, "", " ")
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(o.out, listFile), list, 0o600); err != nil {
		return err
	}
	fmt.Printf("%d mutants in %d files\n", len(all), len(files))
	return nil
}

// copyModule copies what a build needs. The module cache's files are read-only; the copies aren't.
func copyModule(from, to string) error {
	return filepath.WalkDir(from, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(from, path)
		if err != nil {
			return err
		}
		target := filepath.Join(to, rel)
		switch {
		case entry.IsDir():
			return os.MkdirAll(target, 0o755)
		case strings.HasSuffix(path, "_test.go") || !entry.Type().IsRegular():
			return nil
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		return os.WriteFile(target, data, 0o600)
	})
}
