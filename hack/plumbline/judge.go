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
	"github.com/plumbline-e2e/plumbline/providers"
)

const judgeHelp = `name the recordings: plumbline judge HISTORY.jsonl.gz...

A run leaves one recording per spec in _artifacts/*/histories. A folder stands for all
recordings in it. No cluster is needed. The adapter of PROVIDER says which kind the
NodeClass is, and where the controller runs; without PROVIDER any kind will do, and
the controller runs in kube-system`

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
	return invariant.Params{
		NodeClass: a.NodeClassGVR(), Controller: a.Controller.Namespace,
		InstanceGC: a.Capabilities[providers.InstanceGC].Within,
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
		case !info.IsDir():
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
		fmt.Fprintf(out, "%s: %d events in %s\n", file, len(h.Events()),
			h.Taken().Sub(h.Start().Time()).Round(100*time.Millisecond))
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
