package e2e

import (
	"cmp"
	"runtime/debug"
	"slices"

	"golang.org/x/mod/semver"

	"github.com/plumbline-e2e/plumbline/e2e/report"
	"github.com/plumbline-e2e/plumbline/providers"
)

// module is the path of the module that this package is of.
const module = "github.com/plumbline-e2e/plumbline"

// conformance adds to what a run has proven, of what and by what.
func (c Config) conformance(a *providers.Adapter, suites []*Suite, proven report.Conformance) report.Conformance {
	if info, ok := debug.ReadBuildInfo(); ok {
		proven.Plumbline = harnessVersion(info)
	}
	version := cmp.Or(c.Release, a.Source.Version)
	if semver.IsValid("v" + version) { // as it may be asked for
		version = "v" + version
	}
	proven.Provider, proven.Version, proven.Adapter = a.Name, version, a.Origin()
	proven.Controller, proven.Gates, proven.To = c.controller, a.Controller.Gates, c.upgradedTo
	proven.Selection = c.selection()
	proven.Complete = proven.Selection == "" && c.Shard.Whole() && wholeCatalogue(suites)
	if c.dealt != nil {
		proven.Part = &report.Part{Number: c.Shard.Part, Of: c.Shard.Of, Deal: c.dealt.hash()}
	}
	return proven
}

// harnessVersion returns the version of Plumbline in a program, or "" if that doesn't say. It ends with +dirty
// if the checkout had uncommitted changes. Of a fork it is path@version.
func harnessVersion(program *debug.BuildInfo) string {
	used := &program.Main
	if i := slices.IndexFunc(program.Deps, func(m *debug.Module) bool { return m.Path == module }); i >= 0 {
		used = program.Deps[i]
	}
	if used.Replace != nil {
		used = used.Replace
	}
	switch {
	case used.Version == "" || used.Version == "(devel)": // a folder
		return ""
	case used.Path != module:
		return used.Path + "@" + used.Version
	}
	return used.Version
}
