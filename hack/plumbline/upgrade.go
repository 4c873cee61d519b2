package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"maps"
	"os"
	"strings"
	"syscall"

	"golang.org/x/mod/module"
	"golang.org/x/mod/semver"

	"github.com/plumbline-e2e/plumbline/e2e/build"
	"github.com/plumbline-e2e/plumbline/providers"
	"github.com/plumbline-e2e/plumbline/suites/upgrade"
)

// upgradeTest is the test of the conformance program that runs the suite of upgrades.
const upgradeTest = "^TestUpgrade$"

// upgrading is an upgrade of a provider.
type upgrading struct {
	provider           string // its name, or an adapter's file
	from, to           string // releases of its source module
	fromImage, toImage string // images instead of the adapter's
	toProvider         string // the adapter of the new release; empty: the same
}

// runUpgrade runs the suite of upgrades, in place of this process. It checks first what the variables
// say of the two releases.
func runUpgrade(ctx context.Context, args []string) error {
	flags := flag.NewFlagSet("upgrade", flag.ContinueOnError)
	binary := flags.String("binary", "", "the compiled conformance test, which `make upgrade` makes")
	if err := flags.Parse(args); err != nil {
		return fmt.Errorf("upgrade: %w", err)
	}
	u := upgrading{
		provider: providerName(), from: os.Getenv("FROM"), to: os.Getenv("TO"),
		fromImage: os.Getenv("FROM_IMAGE"), toImage: os.Getenv("TO_IMAGE"), toProvider: os.Getenv("TO_PROVIDER"),
	}
	c, a, err := selected()
	if err = errors.Join(err, foreignVariables("KARPENTER", "IMAGE"), u.check(ctx, a)); err != nil {
		return err
	}
	if _, err := os.Stat(*binary); err != nil {
		return fmt.Errorf("the conformance test is missing, run `make upgrade`: %w", err)
	}
	variables := u.variables()
	variables["PROVIDER"], variables["KARPENTER"], variables["GATES"] = u.provider, u.from, upgradeGates(a, c.Gates)
	return syscall.Exec(*binary, []string{*binary, "-test.run", upgradeTest}, withVariables(os.Environ(), variables))
}

// variables returns what a run reads of the upgrade, beside PROVIDER and KARPENTER.
func (u upgrading) variables() map[string]string {
	return map[string]string{
		"IMAGE": u.fromImage, "TO": u.to, "TO_IMAGE": u.toImage, "TO_PROVIDER": u.toProvider,
		"PLUMBLINE_RERUN": u.command(),
	}
}

// command returns the command that runs the upgrade.
func (u upgrading) command() string {
	words := []string{"make upgrade"}
	for _, v := range [][2]string{
		{"PROVIDER", u.provider},
		{"FROM", u.from},
		{"TO", u.to},
		{"FROM_IMAGE", u.fromImage},
		{"TO_IMAGE", u.toImage},
		{"TO_PROVIDER", u.toProvider},
	} {
		if v[1] != "" {
			words = append(words, v[0]+"="+v[1])
		}
	}
	return strings.Join(words, " ")
}

// check returns all mistakes in what is to be upgraded.
func (u upgrading) check(ctx context.Context, a *providers.Adapter) error {
	var mistakes []error
	mistake := func(format string, args ...any) { mistakes = append(mistakes, fmt.Errorf(format, args...)) }
	if u.from+u.fromImage == "" {
		mistake("FROM says no release; write two of the provider's source, as in `make upgrade FROM=v1.14.3 TO=v1.15.0`")
	}
	if u.to+u.toImage+u.toProvider == "" {
		mistake("TO says no release; write two of the provider's source, as in `make upgrade FROM=v1.14.3 TO=v1.15.0`")
	}
	if u.from == u.to && u.fromImage == u.toImage && u.toProvider == "" && u.from+u.fromImage != "" {
		mistake("FROM and TO are the same, %s: there is nothing to upgrade", strings.TrimSpace(u.from+" "+u.fromImage))
	}
	if len(mistakes) > 0 || a.Validate() != nil {
		return errors.Join(mistakes...)
	}
	from, err := known(ctx, a, "FROM", u.from)
	to := u.to
	if u.toProvider == "" {
		var err2 error
		to, err2 = known(ctx, a, "TO", u.to)
		err = errors.Join(err, err2)
	}
	if err == nil && isNewer(from, to) {
		err = fmt.Errorf("FROM=%s is newer than TO=%s: exchange them; going back is part of each run", u.from, u.to)
	}
	return err
}

// known returns the version of the provider's source that a release stands for. It is an error if there is none.
func known(ctx context.Context, a *providers.Adapter, variable, release string) (string, error) {
	switch {
	case release == "":
		return "", nil
	case a.Source.Module == "":
		return "", fmt.Errorf("%s=%s: the adapter of %s has no source to choose a release of; give images, as %s_IMAGE",
			variable, release, a.Name, variable)
	}
	cache, err := build.Open(step)
	if err != nil {
		return "", err
	}
	version, err := cache.Resolve(ctx, a.Source.Module, release)
	if err == nil {
		_, err = cache.Module(ctx, a.Source.Module, version)
	}
	if err != nil {
		return "", fmt.Errorf("%s=%s: %w", variable, release, err)
	}
	return version, nil
}

// isNewer reports whether one release is newer than another. Commits can't be compared.
func isNewer(one, other string) bool {
	return semver.IsValid(one) && semver.IsValid(other) && !module.IsPseudoVersion(one) &&
		!module.IsPseudoVersion(other) && semver.Compare(one, other) > 0
}

// upgradeGates returns the feature gates of a run: on for what specs of upgrades need and the adapter
// knows, unless the user says otherwise.
func upgradeGates(a *providers.Adapter, chosen map[string]bool) string {
	gates := map[string]bool{}
	for _, spec := range upgrade.Suite.Specs() {
		for _, need := range spec.Needs {
			if gate := a.Capabilities[need].Gate; gate != "" {
				gates[gate] = true
			}
		}
	}
	maps.Copy(gates, chosen)
	return lie{Gates: gates}.gates()
}

// foreignVariables returns an error for each variable that the command sets itself.
func foreignVariables(names ...string) error {
	var errs []error
	for _, name := range names {
		if v := os.Getenv(name); v != "" {
			errs = append(errs, fmt.Errorf("%s=%s: `make upgrade` takes FROM, TO, FROM_IMAGE and TO_IMAGE", name, v))
		}
	}
	return errors.Join(errs...)
}
