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

// Messages by which the go command, and the system calls below it, tell what
// is wrong. They're matched as text, since that's all that the go command gives.
var (
	offline = regexp.MustCompile(`(?i)dial tcp|no such host|connection refused|connection reset|i/o timeout|` +
		`network is unreachable|no route to host|TLS handshake|name resolution|server misbehaving|proxyconnect|` +
		`GOPROXY=off|unexpected EOF|context deadline exceeded|(500|502|503|504) [A-Z]|toolchain not available`)
	noSpace = regexp.MustCompile(`(?i)no space left on device|disk quota exceeded`)
	// The path in "write /home/me/.cache/go-build/1: no space left on device".
	fullFile = regexp.MustCompile(`(/[^\s:]+): (?i:no space left on device|disk quota exceeded)`)
	// What proxies and repositories answer when they don't have a module.
	refused = regexp.MustCompile(`(?i)40[134] [A-Z]|410 Gone|not found|malformed module path|unrecognized import path`)
)

// explain says what would be right when a task fails for a reason that the
// user can do something about.
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

// Explain adds to an error of writing something into the cache, if the cause
// is that a disk is full, which disk that is and what to do. What and needs
// name what was being written and its size, such as "400 MB".
func (c *Cache) Explain(ctx context.Context, what, needs string, err error) error {
	if err == nil || !isFull(err) {
		return err
	}
	return task{what: what, needs: needs}.full(ctx, c.Dir, err)
}

func isFull(err error) bool {
	return errors.Is(err, unix.ENOSPC) || errors.Is(err, unix.EDQUOT) || noSpace.MatchString(err.Error())
}

// full tells which disk is full, and by how much.
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

// fullest is the folder whose disk has the least room: some messages don't say
// which file found none.
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

// setting is the value of one of the go command's settings, empty if it can't
// be known. It asks the go command that is installed, away from any module:
// one that has to be downloaded first would have no answer without a network.
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

// existing returns the nearest folder above that exists: the file that the
// disk had no room for was removed since.
func existing(dir string) string {
	for dir != filepath.Dir(dir) { // until the root, or "."
		if _, err := os.Stat(dir); err == nil {
			return dir
		}
		dir = filepath.Dir(dir)
	}
	return dir
}

// freeBytes is how much an ordinary user can still write to the folder's disk.
func freeBytes(folder string) (uint64, error) {
	var st unix.Statfs_t
	if err := unix.Statfs(folder, &st); err != nil {
		return 0, fmt.Errorf("free space of %s: %w", folder, err)
	}
	return uint64(st.Bavail) * uint64(st.Bsize), nil //nolint:unconvert // the types differ between systems
}
