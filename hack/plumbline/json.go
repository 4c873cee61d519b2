package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
)

// readLines reads a file with a JSON document on each line, which runs add to. One that isn't there has none. It leaves
// out what is no document: a run that died may have cut its last line.
func readLines[T any](file string, each func(T)) error {
	f, err := os.Open(file)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var document T
		if json.Unmarshal(lines.Bytes(), &document) == nil {
			each(document)
		}
	}
	return lines.Err()
}

func readJSON(file string, into any) error {
	data, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(data, into); err != nil {
		return fmt.Errorf("%s: %w", file, err)
	}
	return nil
}

// writeJSON writes a file that people may read.
func writeJSON(file string, what any) error {
	data, err := json.MarshalIndent(what, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(file, append(data, '\n'), 0o644) //nolint:gosec // artifacts are for everybody
}
