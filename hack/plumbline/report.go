package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/plumbline-e2e/plumbline/e2e"
)

// writeReport writes the page of a run, of this version of the page: of the latest run, or of a folder that came
// from elsewhere.
func writeReport(_ context.Context, args []string) error {
	c, err := e2e.FromEnv()
	if err != nil {
		return err
	}
	if len(args) > 1 {
		return errors.New("usage: plumbline report [FOLDER], of one run")
	}
	folder := filepath.Join(c.Artifacts, "latest")
	if len(args) == 1 {
		folder = args[0]
	}
	if err := e2e.WritePage(folder, step); err != nil {
		return fmt.Errorf("there is no run to report: %w", err)
	}
	_, err = fmt.Fprintln(os.Stdout, filepath.Join(folder, e2e.PageFile))
	return err
}
