package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/e2e/history"
	"github.com/plumbline-e2e/plumbline/e2e/invariant"
	"github.com/plumbline-e2e/plumbline/e2e/record"
	"github.com/plumbline-e2e/plumbline/providers"
)

const judgeHelp = `name the recordings: plumbline judge HISTORY.jsonl.gz...

A run leaves one recording per spec in _artifacts/*/histories. A folder stands for all
recordings in it, or is itself one, by plumbline record. No cluster is needed. The adapter
of PROVIDER says which kind the NodeClass is, and where the controller runs; without
PROVIDER any kind and namespace will do.

Of a cluster that the harness didn't start, some invariants can't be judged, and the others
are judged between gaps, where nothing is missing. So are recordings of an older format`

// olderFormat is said of a recording of an older format.
const olderFormat = "  – an older format: it doesn't show what the spec deleted, nor that the clock jumped. " +
	"What breaks just after a jump may be none of the provider's doing"

// judge checks saved histories by every invariant. It fails if an invariant broke.
func judge(_ context.Context, args []string) error {
	params, err := judgeParams()
	if err != nil {
		return err
	}
	files, err := recordings(args)
	if err != nil {
		return err
	}
	if len(files) == 0 {
		return errors.New(judgeHelp)
	}
	return judgeFiles(os.Stdout, files, params)
}

func judgeParams() (invariant.Params, error) {
	if os.Getenv("PROVIDER") == "" {
		return invariant.Params{}, nil
	}
	a := providers.Named(providerName())
	images, _ := a.Supports(providers.Images)
	return invariant.Params{
		NodeClass: a.NodeClassGVR(), Controller: a.Controller.Namespace,
		InstanceGC: a.Capabilities[providers.InstanceGC].Within, Images: images,
	}, a.Validate()
}

func recordings(args []string) ([]string, error) {
	var files []string
	for _, arg := range args {
		if strings.HasPrefix(arg, "-") {
			return nil, errors.New(judgeHelp)
		}
		info, err := os.Stat(arg)
		switch {
		case err != nil:
			return nil, fmt.Errorf("no recording to judge: %w", err)
		case !info.IsDir() || isRecording(arg):
			files = append(files, arg)
			continue
		}
		found, err := recordingsIn(arg)
		if err != nil {
			return nil, err
		}
		files = append(files, found...)
	}
	return files, nil
}

func recordingsIn(folder string) ([]string, error) {
	var files []string
	err := filepath.WalkDir(folder, func(path string, entry fs.DirEntry, err error) error {
		if err == nil && !entry.IsDir() && (strings.HasSuffix(path, ".jsonl.gz") || strings.HasSuffix(path, ".jsonl")) {
			files = append(files, path)
		}
		return err
	})
	if err == nil && len(files) == 0 {
		err = errors.New("no file in it ends with .jsonl.gz")
	}
	if err != nil {
		return nil, fmt.Errorf("recordings in %s: %w", folder, err)
	}
	return files, nil
}

// isRecording reports whether a folder is a recording of a cluster that the harness didn't start.
func isRecording(folder string) bool {
	_, err := record.Read(folder)
	return err == nil
}

// judgeFiles judges each file, also after an error in another.
func judgeFiles(out io.Writer, files []string, params invariant.Params) error {
	var errs []error
	counts := map[check.Verdict]int{}
	for _, file := range files {
		h, err := history.LoadFile(file)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		fmt.Fprintf(out, "%s: %s\n", file, extent(h))
		if h.Older() {
			fmt.Fprintln(out, olderFormat)
		}
		if h.Older() || isRecording(file) {
			judgeElsewhere(out, h, params, counts)
			continue
		}
		all := invariant.All()
		for i, f := range invariant.Judge(h, params) {
			counts[f.Verdict]++
			fmt.Fprintln(out, verdict(all[i].Name, f))
		}
	}
	if n := counts[check.Broken]; n > 0 {
		errs = append(errs, fmt.Errorf("%d of %d verdicts: broken", n, n+counts[check.Holds]+counts[check.Vacuous]+
			counts[check.Unknown]))
	}
	return errors.Join(errs...)
}

func extent(h *history.History) string {
	return fmt.Sprintf("%d events in %s", len(h.Events()), h.Taken().Sub(h.Start().Time()).Round(100*time.Millisecond))
}

// judgeElsewhere judges a recording that doesn't show all that users and clouds do, between its gaps.
func judgeElsewhere(out io.Writer, h *history.History, params invariant.Params, counts map[check.Verdict]int) {
	var checks []check.Check
	var names []string
	for _, i := range invariant.All() {
		if i.OnlyHere == "" {
			checks, names = append(checks, i.Check(params)), append(names, i.Name)
		} else {
			fmt.Fprintf(out, "  – not judged: %s (%s)\n", i.Name, i.OnlyHere)
		}
	}
	for _, g := range h.Gaps() {
		fmt.Fprintf(out, "  – a gap at %s: %s\n", g.Time.Format(time.RFC3339), g.Reason)
	}
	stretches := h.Stretches()
	for n, stretch := range stretches {
		if len(stretches) > 1 {
			fmt.Fprintf(out, " between gaps, %d of %d: %s from %s\n", n+1, len(stretches), extent(stretch),
				stretch.Start().Time().Format(time.RFC3339))
		}
		for i, f := range check.Judge(stretch, checks...) {
			counts[f.Verdict]++
			fmt.Fprintln(out, verdict(names[i], f))
		}
	}
}

// verdict formats a finding on one line, or in full if it broke.
func verdict(name string, f check.Finding) string {
	switch f.Verdict {
	case check.Holds:
		return fmt.Sprintf("  ✓ holds, %s: %s", times(f.Tested), name)
	case check.Broken:
		return "  ✗ " + strings.ReplaceAll(f.String(), "\n", "\n    ")
	case check.Vacuous:
		return fmt.Sprintf("  · vacuous: %s (%s)", name, f.Reason)
	default:
		return fmt.Sprintf("  ? unknown: %s (%s)", name, f.Reason)
	}
}

func times(n int) string {
	if n == 1 {
		return "tested once"
	}
	return fmt.Sprintf("tested %d times", n)
}
