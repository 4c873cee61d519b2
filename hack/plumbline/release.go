package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/plumbline-e2e/plumbline/e2e"
)

// platforms are those that releases have a program for.
var platforms = []string{"darwin/amd64", "darwin/arm64", "linux/amd64", "linux/arm64"}

// makeRelease checks that the checkout is what a tag should name, and makes what is published: `plumbline release TAG`.
// It prints the folder: a program for each platform, SHA256SUMS, and outside of what is attached, notes.md.
func makeRelease(ctx context.Context, args []string) error {
	if len(args) != 1 {
		return errors.New("usage: plumbline release TAG")
	}
	c, err := e2e.FromEnv()
	if err != nil {
		return err
	}
	s, err := here()
	if err != nil {
		return err
	}
	changelog, err := os.ReadFile(filepath.Join(s.Dir, changelogFile))
	if err != nil {
		return err
	}
	notes, err := s.notes(ctx, args[0], string(changelog))
	if err != nil {
		return err
	}
	folder := filepath.Join(c.Artifacts, "release")
	if err := errors.Join(os.RemoveAll(folder), os.MkdirAll(filepath.Join(folder, "files"), 0o755)); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(folder, "notes.md"), []byte(notes), 0o644); err != nil {
		return err
	}
	if err := s.archives(ctx, args[0], filepath.Join(folder, "files")); err != nil {
		return err
	}
	fmt.Println(folder)
	return nil
}

// notes returns the text of a release: its section of the changelog, and the commits since the last one. The error has
// everything that keeps the checkout from being that release.
func (s source) notes(ctx context.Context, tag, changelog string) (string, error) {
	var mistakes []error
	version, err := release(tag)
	mistakes = append(mistakes, err)
	next, text, err := firstSection(changelog)
	mistakes = append(mistakes, err)
	if version != nil && next != nil && !version.Equal(next) {
		mistakes = append(mistakes, fmt.Errorf("the first section of %s is %s, not %s", changelogFile, tagOf(next), tag))
	}
	if next != nil && text == "" {
		mistakes = append(mistakes, fmt.Errorf("%s says nothing of %s", changelogFile, tagOf(next)))
	}
	if version != nil {
		mistakes = append(mistakes, s.checkTag(ctx, tag))
	}
	changed, err := s.git(ctx, "status", "--porcelain")
	mistakes = append(mistakes, err)
	if changed != "" {
		mistakes = append(mistakes, fmt.Errorf("the checkout isn't what is committed:\n%s", changed))
	}
	if err := errors.Join(mistakes...); err != nil {
		return "", err
	}
	last, err := s.last(ctx, next)
	if err != nil || last == nil {
		return text + "\n", err
	}
	if next.LessThan(last) {
		return "", fmt.Errorf("%s is older than the last release, %s", tag, tagOf(last))
	}
	if said, err := s.checkAPI(ctx, next); err != nil {
		return "", fmt.Errorf("%s%w", said, err)
	}
	commits, err := s.git(ctx, "log", "--no-merges", "--format=- %s (%h)", tagOf(last)+"..HEAD")
	return fmt.Sprintf("%s\n\n### Commits since %s\n\n%s", text, tagOf(last), commits), err
}

// checkTag returns an error if a tag is on another commit than the checkout's.
func (s source) checkTag(ctx context.Context, tag string) error {
	there, err := s.git(ctx, "tag", "--list", tag)
	if err != nil || there == "" {
		return err
	}
	here, err := s.git(ctx, "tag", "--points-at", "HEAD")
	if err == nil && !slices.Contains(strings.Fields(here), tag) {
		err = fmt.Errorf("%s has been released: there is such a tag, on another commit", tag)
	}
	return err
}

// archives writes an archive with the program for each platform, and their checksums. The same commit gives the same
// bytes, if it is built by the same Go: that of go.mod.
func (s source) archives(ctx context.Context, tag, folder string) error {
	stamp, err := s.git(ctx, "log", "-1", "--format=%ct")
	if err != nil {
		return err
	}
	seconds, err := strconv.ParseInt(strings.TrimSpace(stamp), 10, 64)
	if err != nil {
		return err
	}
	license, err := os.ReadFile(filepath.Join(s.Dir, "LICENSE"))
	if err != nil {
		return err
	}
	var sums strings.Builder
	for _, platform := range platforms {
		system, arch, _ := strings.Cut(platform, "/")
		program, err := s.program(ctx, system, arch)
		if err != nil {
			return err
		}
		data, err := pack(time.Unix(seconds, 0), map[string][]byte{"plumbline": program, "LICENSE": license})
		if err != nil {
			return err
		}
		name := fmt.Sprintf("plumbline_%s_%s_%s.tar.gz", tag, system, arch)
		fmt.Fprintf(&sums, "%x  %s\n", sha256.Sum256(data), name)
		if err := os.WriteFile(filepath.Join(folder, name), data, 0o644); err != nil {
			return err
		}
	}
	return os.WriteFile(filepath.Join(folder, "SHA256SUMS"), []byte(sums.String()), 0o644)
}

// program builds the command for a platform.
func (s source) program(ctx context.Context, system, arch string) (program []byte, err error) {
	temp, err := os.MkdirTemp("", "plumbline-release-")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(temp)) }()
	out := filepath.Join(temp, "plumbline")
	cmd := exec.CommandContext(ctx, "go", "build", "-trimpath", "-buildvcs=true", "-ldflags=-s -w", "-o", out,
		"./hack/plumbline")
	cmd.Dir, cmd.Stderr = s.Dir, os.Stderr
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOFLAGS=", "GOOS="+system, "GOARCH="+arch)
	if err := cmd.Run(); err != nil {
		return nil, fmt.Errorf("building for %s/%s: %w", system, arch, err)
	}
	return os.ReadFile(out)
}

// pack returns files as a compressed archive, which depends on nothing but the arguments. All are executable.
func pack(at time.Time, files map[string][]byte) ([]byte, error) {
	var packed bytes.Buffer
	compressed, err := gzip.NewWriterLevel(&packed, gzip.BestCompression)
	if err != nil {
		return nil, err
	}
	archive := tar.NewWriter(compressed)
	for _, name := range slices.Sorted(maps.Keys(files)) {
		err := archive.WriteHeader(&tar.Header{Name: name, Mode: 0o755, Size: int64(len(files[name])), ModTime: at.UTC()})
		if err != nil {
			return nil, err
		}
		if _, err := archive.Write(files[name]); err != nil {
			return nil, err
		}
	}
	if err := errors.Join(archive.Close(), compressed.Close()); err != nil {
		return nil, err
	}
	return packed.Bytes(), nil
}
