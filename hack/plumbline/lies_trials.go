package main

import (
	"cmp"
	"path/filepath"
	"slices"
	"strings"
)

// conversionLevel is the level of lies that a provider of an older release tells: later ones convert
// nothing.
const conversionLevel = "conversion"

// awsLevel is the level of lies that are told between the AWS provider and a simulated AWS.
const awsLevel = "aws"

// elsewhere reports whether a lie is told by another provider than the faulty one of the pinned release, or to another
// session than that of `make e2e`.
func (l lie) elsewhere() bool {
	return slices.Contains([]string{upgrades, conversionLevel, awsLevel}, l.Level)
}

// keptSuffix ends the names of trials with the release that keeps a promise.
const keptSuffix = "-kept"

// lying returns the trial that tells the lie.
func (l lie) lying() trial {
	t := trial{
		name: l.Name, lie: l.Name, provider: filepath.Join(faulty, "adapter.yaml"), gates: l.gates(),
		specs: l.Specs, procs: "1",
	}
	switch l.Level {
	case conversionLevel:
		t.provider = filepath.Join(faulty, conversionLevel, "adapter.yaml")
	case awsLevel:
		t.provider = filepath.Join("providers", awsLevel, "faulty", "adapter.yaml")
	case releases:
		t.lie, t.provider, t.release = "", cmp.Or(l.Provider, "kwok"), l.Karpenter
	case upgrades:
		t.vars = map[string]string{"TO_PROVIDER": t.provider, "TO": "", "TO_IMAGE": ""}
		t.lie, t.provider, t.release, t.test = cmp.Or(l.Tells, l.Name), "kwok", l.From, upgradeTest
	}
	return t
}

// trials returns all trials. lying has one for each lie. kept has one for each lie that another
// release of Karpenter doesn't tell. honest runs, for each suite and its gates, all
// specs that claim to catch a lie of the faulty provider, against its honest twin. Those with
// most specs come first.
func trials(lies []lie) (honest, lying, kept []trial) {
	type group struct{ suite, gates, level, from string }
	specs := map[group][]string{}
	var groups []group
	for _, l := range lies {
		lying = append(lying, l.lying())
		if l.Karpenter != "" {
			if l.Kept != "" {
				t := l.lying()
				t.name, t.release = l.Name+keptSuffix, l.Kept
				kept = append(kept, t)
			}
			continue
		}
		for _, s := range l.Specs {
			folder, _, _ := strings.Cut(s, "/")
			g := group{suite: folder, gates: l.gates(), from: l.From}
			if l.elsewhere() {
				g.level = l.Level
			}
			if specs[g] == nil {
				groups = append(groups, g)
			}
			if !slices.Contains(specs[g], s) {
				specs[g] = append(specs[g], s)
			}
		}
	}
	for _, g := range groups { // a level may have the name of its suite
		parts := []string{"honest", g.level, g.suite, g.from, g.gates}
		parts = slices.DeleteFunc(slices.Compact(parts), func(s string) bool { return s == "" })
		name := strings.Join(parts, "-")
		t := lie{Name: name, Specs: specs[g], Level: g.level, From: g.from}.lying()
		t.lie, t.gates = "", g.gates
		honest = append(honest, t)
	}
	slices.SortStableFunc(honest, func(a, b trial) int { return len(b.specs) - len(a.specs) })
	return honest, lying, kept
}
