package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"strings"

	"github.com/plumbline-e2e/plumbline/e2e"
)

const showHelp = `name the recording: plumbline show [FLAGS] HISTORY.jsonl.gz [BESIDE.jsonl.gz]

  -format perfetto    in place of html
  -from, -to TIME     show a part

A run leaves one recording per spec in _artifacts/*/histories. The timeline is written beside
it, as one file that a browser opens without network, or, as perfetto, as a trace for
https://ui.perfetto.dev. A second recording, such as that of the same spec on another release,
is shown on the same axis. A folder by plumbline record is a recording, too. Of a long one,
from and to choose a part: times such as 2026-01-02T15:04:05Z, or as long after its start as 20m`

// showRecording writes the timeline of a recording.
func showRecording(_ context.Context, args []string) error {
	flags := flag.NewFlagSet("show", flag.ContinueOnError)
	name := flags.String("format", e2e.Formats()[0].Name, formatNames())
	from := flags.String("from", "", "when the part that is shown begins")
	to := flags.String("to", "", "when it ends")
	if err := flags.Parse(args); err != nil {
		return fmt.Errorf("show: %w", err)
	}
	format, err := formatOf(*name)
	w, err2 := windowOf(*from, *to)
	err = errors.Join(err, err2)
	if n := flags.NArg(); n < 1 || n > 2 {
		err = errors.Join(err, errors.New(showHelp))
	}
	if err != nil {
		return err
	}
	file, err := e2e.WriteTimeline(format, w, flags.Arg(0), flags.Args()[1:]...)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintln(os.Stdout, file)
	return err
}

// windowOf returns the part of a recording between two moments. The error has all mistakes.
func windowOf(from, to string) (w e2e.Window, err error) {
	var errTo error
	if w.From, err = e2e.ParseMoment(from); err != nil {
		err = fmt.Errorf("FROM=%w", err)
	}
	if w.To, errTo = e2e.ParseMoment(to); errTo != nil {
		err = errors.Join(err, fmt.Errorf("TO=%w", errTo))
	}
	return w, err
}

// formatOf returns a timeline's format by its name.
func formatOf(name string) (e2e.Format, error) {
	for _, f := range e2e.Formats() {
		if f.Name == name {
			return f, nil
		}
	}
	return e2e.Format{}, fmt.Errorf("FORMAT=%s: use %s", name, formatNames())
}

func formatNames() string {
	var names []string
	for _, f := range e2e.Formats() {
		names = append(names, f.Name)
	}
	return strings.Join(names, " or ")
}
