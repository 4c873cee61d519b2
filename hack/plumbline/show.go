package main

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/plumbline-e2e/plumbline/e2e"
)

const showHelp = `name the recording: plumbline show HISTORY.jsonl.gz [BESIDE.jsonl.gz]

A run leaves one recording per spec in _artifacts/*/histories. The timeline is written beside
it, as one file that a browser opens without network. A second recording, such as that of
the same spec on another release, is shown on the same axis`

// showRecording writes the timeline of a recording.
func showRecording(_ context.Context, args []string) error {
	if len(args) < 1 || len(args) > 2 {
		return errors.New(showHelp)
	}
	file, err := e2e.WriteTimeline(args[0], args[1:]...)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintln(os.Stdout, file)
	return err
}
