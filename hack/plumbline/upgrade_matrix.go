package main

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/report"
	"github.com/plumbline-e2e/plumbline/providers"
	"github.com/plumbline-e2e/plumbline/suites/upgrade"
)

// upgradesFile is the table of upgrades.
const upgradesFile = "suites/upgrades.md"

const upgradesHead = `# Upgrades

What each upgrade did to a fleet: the specs of [upgrade](README.md#upgrade), from each release of Karpenter to the
next that the module proxy has, and from the oldest to the newest. ✓ passed, ✗ failed, – skipped. What isn't green is
explained below. This table is written by ` + "`make upgrade-matrix`" + `, which keeps the rows that it doesn't run.

In rows from v1.0.8 a spec is red now and then, another one each time. That release looks for the NodeClaim of a
node when the node changes, by the provider ID. If the NodeClaim's status has not reached its cache by then, and
the node changes no more, as fake nodes don't, the node is never registered
(pkg/controllers/nodeclaim/lifecycle/registration.go; pkg/utils/nodeclaim/nodeclaim.go, NodeEventHandler).
It also writes all conditions of a NodeClaim's status without an optimistic lock
(pkg/controllers/nodeclaim/lifecycle/controller.go, line 121), so that what another of its controllers has written
meanwhile is set back. Its conditions have no observedGeneration: Ready of its NodeClaims is Unknown for a moment when
a newer release takes over.

`

// matrix returns the upgrades of the table: each provider's releases that the module proxy has with all that they
// require, in their order, then the oldest to the newest.
func matrix() []upgrading {
	return append(
		oneToTheNext("kwok", "v1.0.8", "v1.1.5", "v1.5.5", "v1.6.4", "v1.9.0", "v1.10.0", "v1.11.1", "v1.12.1", "v1.13.0",
			"v1.14.3", "v1.15.0"),
		oneToTheNext("aws", "v1.0.8", "v1.8.2", "v1.11.0", "v1.12.0", "v1.14.3")...)
}

// oneToTheNext returns the upgrades of a provider's releases, and that of the first to the last.
func oneToTheNext(provider string, releases ...string) []upgrading {
	var all []upgrading
	for i, from := range releases[:len(releases)-1] {
		all = append(all, upgrading{provider: provider, from: from, to: releases[i+1]})
	}
	return append(all, upgrading{provider: provider, from: releases[0], to: releases[len(releases)-1]})
}

// name names an upgrade in the table.
func (u upgrading) name() string { return fmt.Sprintf("%s %s → %s", u.provider, u.from, u.to) }

// runUpgradeMatrix runs the upgrades that PROVIDER, FROM and TO choose, or all, and writes each one's row of
// upgradesFile when it ends.
func runUpgradeMatrix(ctx context.Context, args []string) error {
	flags := flag.NewFlagSet("upgrade-matrix", flag.ContinueOnError)
	binary := flags.String("binary", "", "the compiled conformance test, which `make upgrade-matrix` makes")
	if err := flags.Parse(args); err != nil {
		return fmt.Errorf("upgrade-matrix: %w", err)
	}
	provider, from, to := os.Getenv("PROVIDER"), os.Getenv("FROM"), os.Getenv("TO")
	c, err := e2e.FromEnv()
	chosen := chosenUpgrades(matrix(), provider, from, to)
	if len(chosen) == 0 {
		err = errors.Join(err, fmt.Errorf("PROVIDER=%s FROM=%s TO=%s: the matrix has no such upgrade; `make upgrade` runs it",
			provider, from, to))
	}
	if err != nil {
		return err
	}
	run, err := e2e.NewRunFolder(c.Artifacts)
	if err != nil {
		return err
	}
	var red []error
	for i, u := range chosen {
		step(fmt.Sprintf("%d of %d: %s", i+1, len(chosen), u.name()))
		t := trial{
			name: strings.ReplaceAll(u.name(), " → ", "-"), provider: u.provider, release: u.from,
			gates: upgradeGates(providers.Named(u.provider), c.Gates), procs: os.Getenv("PROCS"),
			test: upgradeTest, vars: u.variables(),
		}
		outcomes, err := t.run(ctx, *binary, filepath.Join(run, strings.ReplaceAll(t.name, " ", "-")))
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if err := u.write(outcomes, err); err != nil {
			return err
		}
		if bad := redSpecsOf(outcomes); err != nil || len(bad) > 0 {
			red = append(red, errors.Join(err, fmt.Errorf("%s: %s", u.name(), strings.Join(bad, ", "))))
		}
	}
	return errors.Join(red...)
}

// write writes an upgrade's results into the table.
func (u upgrading) write(outcomes []report.Outcome, failed error) error {
	before, err := os.ReadFile(upgradesFile)
	if err != nil && !os.IsNotExist(err) {
		return err
	}
	table := upgradesTable(matrix(), u, outcomes, failed, string(before))
	return os.WriteFile(upgradesFile, []byte(table), 0o644) //nolint:gosec // a document
}

// chosenUpgrades returns those of some upgrades that the variables choose. Empty ones choose all.
func chosenUpgrades(all []upgrading, provider, from, to string) []upgrading {
	return slices.DeleteFunc(slices.Clone(all), func(u upgrading) bool {
		return cmp.Or(provider, u.provider) != u.provider || cmp.Or(from, u.from) != u.from || cmp.Or(to, u.to) != u.to
	})
}

// redSpecsOf returns the IDs of the specs that turn a run red.
func redSpecsOf(outcomes []report.Outcome) []string {
	var red []string
	for _, o := range outcomes {
		if o.Verdict.Red() {
			red = append(red, o.ID)
		}
	}
	return red
}

// upgradesTable formats upgradesFile with the results of an upgrade. The others keep what the file says
// of them, unless there are other specs by now.
func upgradesTable(all []upgrading, ran upgrading, outcomes []report.Outcome, failed error, before string) string {
	header := upgradesHeader()
	if !strings.Contains(before, header) {
		before = ""
	}
	var rows, notes strings.Builder
	for _, u := range all {
		if u == ran {
			row, said := u.results(outcomes, failed)
			rows.WriteString(row)
			notes.WriteString(said)
			continue
		}
		for line := range strings.Lines(before) {
			if strings.HasPrefix(line, "| "+u.name()+" |") {
				rows.WriteString(line)
			}
			if strings.HasPrefix(line, "- "+u.name()+":") {
				notes.WriteString(line)
			}
		}
	}
	return upgradesHead + header + rows.String() + "\n" + notes.String()
}

// upgradesHeader returns the table's first two lines.
func upgradesHeader() string {
	columns, rule := "| Upgrade |", "|---|"
	for _, spec := range upgrade.Suite.Specs() {
		columns, rule = columns+" "+strings.TrimPrefix(spec.ID(), "upgrade/")+" |", rule+"---|"
	}
	return columns + "\n" + rule + "\n"
}

// results returns an upgrade's row, and a note for each spec that isn't green.
func (u upgrading) results(outcomes []report.Outcome, failed error) (row, notes string) {
	row = "| " + u.name() + " |"
	note := func(format string, args ...any) {
		notes += fmt.Sprintf("- %s: %s\n", u.name(), cell(fmt.Sprintf(format, args...)))
	}
	if failed != nil {
		note("%v", firstLine(failed.Error()))
	}
	for _, spec := range upgrade.Suite.Specs() {
		i := slices.IndexFunc(outcomes, func(o report.Outcome) bool { return o.ID == spec.ID() })
		if i < 0 {
			row += "  |"
			continue
		}
		o := outcomes[i]
		switch {
		case o.Verdict == report.Passed:
			row += " ✓ |"
			continue
		case o.Verdict == report.Skipped:
			row += " – |"
		case o.Verdict.Red():
			row += " ✗ |"
		default:
			row += " " + string(o.Verdict) + " |"
		}
		reason := varying.ReplaceAllString(firstLine(o.Reason), "$1$2$3")
		note("%s %s: %s", strings.TrimPrefix(o.ID, "upgrade/"), o.Verdict, reason)
	}
	return row + "\n", notes
}
