package build

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"

	"golang.org/x/sys/unix"
)

// These match messages of the go command and of system calls below it. The go command gives
// its errors as text only.
var (
	offline = regexp.MustCompile(`(?i)dial tcp|no such host|connection refused|connection reset|i/o timeout|` +
		`network is unreachable|no route to host|TLS handshake|name resolution|server misbehaving|proxyconnect|` +
		`GOPROXY=off|unexpected EOF|context deadline exceeded|(500|502|503|504) [A-Z]|toolchain not available`)
	noSpace = regexp.MustCompile(`(?i)no space left on device|disk quota exceeded`)
	// The path in "write /home/me/.cache/go-build/1: no space left on device".
	fullFile = regexp.MustCompile(`(/[^\s:]+): (?i:no space left on device|disk quota exceeded)`)
	// What proxies and repositories answer for a missing module.
	refused = regexp.MustCompile(`(?i)40[134] [A-Z]|410 Gone|not found|malformed module path|unrecognized import path`)
)

// explain adds what the user can do to the error of a failed task.
func (t task) explain(ctx context.Context, cache string, err error) error {
	said := err.Error()
	switch {
	case ctx.Err() != nil:
		return fmt.Errorf("building %s was cancelled, nothing was kept of it: %w", t.what, err)
	case errors.Is(err, exec.ErrNotFound):
		return fmt.Errorf("%s must be built from source, but there is no go command on the PATH: "+
			"install Go 1.21 or later from https://go.dev/dl (it fetches %s by itself): %w", t.what, Toolchain, err)
	case isFull(err):
		return t.full(ctx, cache, err)
	case offline.MatchString(said):
		return fmt.Errorf("%s must be built from source, which needs the Go module proxy (GOPROXY=%s) "+
			"the first time, and it can't be reached; nothing was changed: %w", t.what, setting(ctx, "GOPROXY"), err)
	}
	return fmt.Errorf("building %s: %w", t.what, err)
}

// Explain adds the full disk and what to do about it to an error of writing into the cache. It
// returns other errors unchanged. What is the thing being written; needs is its size, such as
// "400 MB".
func (c *Cache) Explain(ctx context.Context, what, needs string, err error) error {
	if err == nil || !isFull(err) {
		return err
	}
	return task{what: what, needs: needs}.full(ctx, c.Dir, err)
}

func isFull(err error) bool {
	return errors.Is(err, unix.ENOSPC) || errors.Is(err, unix.EDQUOT) || noSpace.MatchString(err.Error())
}

// full returns an error with the full disk, its free space and the space needed.
func (t task) full(ctx context.Context, cache string, err error) error {
	folder := fullest(cache, setting(ctx, "GOCACHE"), setting(ctx, "GOMODCACHE"))
	if m := fullFile.FindStringSubmatch(err.Error()); m != nil {
		folder = existing(filepath.Dir(m[1]))
	}
	free := "an unknown amount"
	if n, statErr := freeBytes(folder); statErr == nil {
		free = fmt.Sprintf("%d MB", n>>20)
	}
	needs := t.needs
	if needs == "" {
		needs = "2 GB"
	}
	return fmt.Errorf("the disk of %s is full: %s free now that the half-built %s is removed, about %s needed. "+
		"Make room, or set PLUMBLINE_CACHE (programs), GOCACHE and GOMODCACHE (the go command's) to another disk: %w",
		folder, free, t.what, needs, err)
}

// fullest returns the folder whose disk has the least free space. Some messages don't name the
// file.
func fullest(folders ...string) string {
	least, at := uint64(math.MaxUint64), folders[0]
	for _, f := range folders {
		f = existing(f)
		if n, err := freeBytes(f); err == nil && n < least {
			least, at = n, f
		}
	}
	return at
}

// setting returns a setting of the go command, or "" if it fails. It runs the installed go
// command outside any module: one that must be downloaded first fails without a network.
func setting(ctx context.Context, name string) string {
	cmd := exec.CommandContext(ctx, "go", "env", name) //nolint:gosec // a constant
	cmd.Dir = os.TempDir()
	cmd.Env = append(os.Environ(), "GOTOOLCHAIN=local", "GOWORK=off", "PWD="+cmd.Dir)
	out, err := cmd.Output()
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(out))
}

// existing returns dir or its nearest parent that exists. The file without space is already
// removed.
func existing(dir string) string {
	for dir != filepath.Dir(dir) { // until the root, or "."
		if _, err := os.Stat(dir); err == nil {
			return dir
		}
		dir = filepath.Dir(dir)
	}
	return dir
}

// freeBytes returns the free space of a folder's disk for ordinary users, in bytes.
func freeBytes(folder string) (uint64, error) {
	var st unix.Statfs_t
	if err := unix.Statfs(folder, &st); err != nil {
		return 0, fmt.Errorf("free space of %s: %w", folder, err)
	}
	return uint64(st.Bavail) * uint64(st.Bsize), nil //nolint:unconvert // the types differ between systems
}
