package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/Masterminds/semver/v3"
)

// api lists the packages that importers use, which README.md names. Others may change without a word.
var api = []string{
	"e2e", "e2e/check", "e2e/env", "e2e/history", "e2e/karpenter", "fixtures", "providers", "providers/simulator",
	"suites",
}

// changelogFile says in its first section what the release that comes next is, and what it brings.
const changelogFile = ".github/CHANGELOG.md"

// source is a checkout of a module with its history.
type source struct {
	Dir   string
	Tools string // the go.mod with apidiff
	API   []string
}

// here returns the checkout in the working directory.
func here() (source, error) {
	wd, err := os.Getwd()
	return source{Dir: wd, Tools: filepath.Join(wd, "hack", "tools", "go.mod"), API: api}, err
}

// compareAPI prints what importers of the last release would have to change. The error says if the next release, as the
// changelog names it, may not ask that of them.
func compareAPI(ctx context.Context, _ []string) error {
	s, err := here()
	if err != nil {
		return err
	}
	text, err := os.ReadFile(filepath.Join(s.Dir, changelogFile))
	if err != nil {
		return err
	}
	next, _, err := firstSection(string(text))
	if err != nil {
		return err
	}
	said, err := s.checkAPI(ctx, next)
	fmt.Print(said)
	return err
}

var heading = regexp.MustCompile(`(?m)^## (.*)$`)

// firstSection returns the version and the text of a changelog's first section.
func firstSection(changelog string) (*semver.Version, string, error) {
	at := heading.FindAllStringSubmatchIndex(changelog, 2)
	if len(at) == 0 {
		return nil, "", fmt.Errorf("%s has no section; want a heading such as ## v0.1.0", changelogFile)
	}
	name := changelog[at[0][2]:at[0][3]]
	end := len(changelog)
	if len(at) > 1 {
		end = at[1][0]
	}
	version, err := release(name)
	if err != nil {
		return nil, "", fmt.Errorf("the first section of %s: %w", changelogFile, err)
	}
	return version, strings.TrimSpace(changelog[at[0][1]:end]), nil
}

// release reads the version of a release, which a tag has for its name.
func release(tag string) (*semver.Version, error) {
	v, err := semver.StrictNewVersion(strings.TrimPrefix(tag, "v"))
	if err != nil || !strings.HasPrefix(tag, "v") {
		return nil, fmt.Errorf("%q is not a version such as v1.2.3", tag)
	}
	return v, nil
}

// mayBreak reports whether a release may ask changes of importers, by the rules of semantic versions and, before 1.0,
// of Go's modules: the minor version then stands for the major one.
func mayBreak(last, next *semver.Version) bool {
	if next.Major() == 0 {
		return next.Minor() > last.Minor()
	}
	return next.Major() > last.Major()
}

// checkAPI compares the API with that of the last release. It returns what importers would have to change, and an error
// if the next release may not break them.
func (s source) checkAPI(ctx context.Context, next *semver.Version) (string, error) {
	last, err := s.last(ctx, next)
	if err != nil {
		return "", err
	}
	if last == nil {
		return "there is no earlier release to compare the API with\n", nil
	}
	broken, err := s.incompatible(ctx, tagOf(last))
	if err != nil {
		return "", fmt.Errorf("comparing the API with %s: %w", tagOf(last), err)
	}
	if len(broken) == 0 {
		return fmt.Sprintf("the API is compatible with %s\n", tagOf(last)), nil
	}
	said := fmt.Sprintf("importers of %s would have to change their code:\n%s", tagOf(last), strings.Join(broken, ""))
	if !mayBreak(last, next) {
		return said, fmt.Errorf("%s may not break importers of %s; keep what they use, or let the first section of %s be a "+
			"release that may, such as %s", tagOf(next), tagOf(last), changelogFile, tagOf(breaking(last)))
	}
	return said, nil
}

func tagOf(v *semver.Version) string { return "v" + v.String() }

// breaking returns the next release that may break importers.
func breaking(last *semver.Version) *semver.Version {
	next := last.IncMajor()
	if last.Major() == 0 {
		next = last.IncMinor()
	}
	return &next
}

// last returns the newest release in the history of the checkout, or nil. The next one doesn't count where it is tagged
// already. Nor do previews, such as v1.0.0-rc.1.
func (s source) last(ctx context.Context, next *semver.Version) (*semver.Version, error) {
	merged, err := s.git(ctx, "tag", "--merged", "HEAD", "--list", "v*")
	if err != nil {
		return nil, err
	}
	now, err := s.git(ctx, "tag", "--points-at", "HEAD")
	if err != nil {
		return nil, err
	}
	var last *semver.Version
	for tag := range strings.FieldsSeq(merged) {
		v, err := release(tag)
		released := err == nil && v.Prerelease() == "" && !(v.Equal(next) && slices.Contains(strings.Fields(now), tag))
		if released && (last == nil || v.GreaterThan(last)) {
			last = v
		}
	}
	return last, nil
}

// incompatible returns the changes since a tag that break importers, as lines.
func (s source) incompatible(ctx context.Context, tag string) (lines []string, err error) {
	temp, err := os.MkdirTemp("", "plumbline-api-")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(temp)) }()
	before := source{Dir: filepath.Join(temp, "before"), Tools: s.Tools}
	if _, err := s.git(ctx, "worktree", "add", "--detach", before.Dir, tag); err != nil {
		return nil, err
	}
	defer func() {
		_, removed := s.git(context.WithoutCancel(ctx), "worktree", "remove", "--force", before.Dir)
		err = errors.Join(err, removed)
	}()
	for _, folder := range s.API {
		switch {
		case !isFolder(filepath.Join(before.Dir, folder)):
			continue // it is new
		case !isFolder(filepath.Join(s.Dir, folder)):
			lines = append(lines, fmt.Sprintf("  %s: the package is gone\n", folder))
			continue
		}
		exported := filepath.Join(temp, "exported")
		if _, err := before.apidiff(ctx, "-w", exported, "./"+folder); err != nil {
			return nil, err
		}
		changes, err := s.apidiff(ctx, "-incompatible", exported, "./"+folder)
		if err != nil {
			return nil, err
		}
		for line := range strings.Lines(changes) {
			lines = append(lines, fmt.Sprintf("  %s: %s", folder, strings.TrimPrefix(line, "- ")))
		}
	}
	return lines, nil
}

func isFolder(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

func (s source) apidiff(ctx context.Context, args ...string) (string, error) {
	return s.run(ctx, "go", append([]string{"tool", "-modfile=" + s.Tools, "apidiff"}, args...)...)
}

func (s source) git(ctx context.Context, args ...string) (string, error) {
	return s.run(ctx, "git", args...)
}

// run returns what a command prints. The error has the command and what it said.
func (s source) run(ctx context.Context, name string, args ...string) (string, error) {
	var said strings.Builder
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir, cmd.Stderr = s.Dir, &said
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("%s: %w\n%s", strings.Join(cmd.Args, " "), err, strings.TrimSpace(said.String()))
	}
	return string(out), nil
}
