package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/build"
	"github.com/plumbline-e2e/plumbline/e2e/clock"
	"github.com/plumbline-e2e/plumbline/e2e/cluster/kind"
)

// doctor says what this machine has and lacks, and what each thing is for. It fails if something is missing that
// every run needs.
func doctor(ctx context.Context, _ []string) error {
	c, err := e2e.FromEnv()
	if err != nil {
		return err
	}
	cache, err := build.Open(step)
	if err != nil {
		return err
	}
	return examine(ctx, os.Stdout, []examination{
		{"Go", "builds all that a run needs", true, func(ctx context.Context) (string, error) {
			return printed(ctx, "go", "version")
		}},
		{"git", "fetches branches and commits of a provider", false, func(ctx context.Context) (string, error) {
			return printed(ctx, "git", "--version")
		}},
		{"module proxy", "has the sources of Kubernetes, KWOK and the providers", true, askProxy},
		{"processors and memory", "", true, func(context.Context) (string, error) {
			return fmt.Sprintf("%d processors; PROCS=%d clusters run side by side", runtime.NumCPU(), c.Procs), nil
		}},
		{"loopback", "clusters listen on it", true, listen},
		{"disk for " + cache.Dir, "builds take about 4 GiB, each provider up to 2", true, free(cache.Dir, 5)},
		{"disk for " + c.Artifacts, "recordings of a run take about 100 MiB", true, free(c.Artifacts, 1)},
		{"a clock that can be bent", "a run in minutes, not hours", false, func(ctx context.Context) (string, error) {
			shim, err := clock.Shim(ctx, cache)
			if err != nil {
				return "", err
			}
			return "processes can be traced", clock.SelfTest(ctx, shim)
		}},
		{"Docker or podman", "CLUSTER=kind, and make node-image", false, kind.Engine},
		{"Chromium or Chrome", "make test-pages", false, browser},
	})
}

// examination is one thing that a machine may have.
type examination struct {
	what   string
	gives  string // what it is for
	needed bool   // by every run
	look   func(context.Context) (string, error)
}

// examine writes a line for each thing, and what its absence costs.
func examine(ctx context.Context, w io.Writer, all []examination) error {
	var missing []error
	for _, e := range all {
		found, err := e.look(ctx)
		switch {
		case err == nil:
			fmt.Fprintf(w, "✓ %s: %s\n", e.what, found)
		case e.needed:
			fmt.Fprintf(w, "✗ %s: %s\n  needed: %s\n", e.what, oneLine(err), e.gives)
			missing = append(missing, fmt.Errorf("%s: %w", e.what, err))
		default:
			fmt.Fprintf(w, "– %s: %s\n  without it there is no: %s\n", e.what, oneLine(err), e.gives)
		}
	}
	return errors.Join(missing...)
}

func oneLine(err error) string { return strings.Join(strings.Fields(err.Error()), " ") }

// printed returns what a command prints, on one line.
func printed(ctx context.Context, name string, args ...string) (string, error) {
	out, err := output(ctx, name, args...)
	return strings.TrimSpace(out), err
}

// askProxy asks the first of GOPROXY for a small module.
func askProxy(ctx context.Context) (string, error) {
	list, err := printed(ctx, "go", "env", "GOPROXY")
	if err != nil {
		return "", err
	}
	proxy := strings.FieldsFunc(list, func(r rune) bool { return r == ',' || r == '|' })
	if len(proxy) == 0 || proxy[0] == "direct" || proxy[0] == "off" || strings.HasPrefix(proxy[0], "file:") {
		return "GOPROXY is " + list, nil
	}
	ctx, cancel := context.WithTimeout(ctx, 15*time.Second)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, proxy[0]+"/golang.org/x/mod/@v/list", nil)
	if err != nil {
		return "", err
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return "", err
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return "", fmt.Errorf("%s answers %s", proxy[0], response.Status)
	}
	return proxy[0] + " answers", nil
}

func listen(ctx context.Context) (string, error) {
	l, err := new(net.ListenConfig).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	return "127.0.0.1 can be listened on", l.Close()
}

// free returns a look at how much space a folder's disk has, which should be so many GiB.
func free(folder string, wanted uint64) func(context.Context) (string, error) {
	return func(context.Context) (string, error) {
		for { // the nearest folder that exists
			if _, err := os.Stat(folder); err == nil || folder == filepath.Dir(folder) {
				break
			}
			folder = filepath.Dir(folder)
		}
		var disk unix.Statfs_t
		if err := unix.Statfs(folder, &disk); err != nil {
			return "", err
		}
		gib := disk.Bavail * uint64(disk.Bsize) >> 30 //nolint:gosec // the size of a block is positive
		if gib < wanted {
			return "", fmt.Errorf("%d GiB are free, %d are wanted", gib, wanted)
		}
		return fmt.Sprintf("%d GiB are free", gib), nil
	}
}

func browser(context.Context) (string, error) {
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome", "chrome"} {
		if path, err := exec.LookPath(name); err == nil {
			return path, nil
		}
	}
	return "", errors.New("none is in PATH")
}
