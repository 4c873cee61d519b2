package main

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"sigs.k8s.io/yaml"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/providers"
)

// faulty is the folder of the faulty provider and the lies.
const faulty = "providers/faulty"

// releases is the level of lies that released versions of Karpenter tell.
const releases = "releases"

// upgrades is the level of lies of a release that an honest one is upgraded to.
const upgrades = "upgrade"

// lie is a broken promise and the specs that claim to catch it.
type lie struct {
	Name    string   `json:"name"`
	Lie     string   `json:"lie"`     // what the provider does, in one sentence
	Promise string   `json:"promise"` // what it should do, in one sentence
	Specs   []string `json:"specs"`   // IDs of specs that must all turn red

	// Karpenter is the release that tells the lie. Empty: the faulty provider tells it.
	Karpenter string `json:"karpenter,omitempty"`
	// Kept is a release that keeps the promise: a later one, or an earlier one if none does yet.
	// Empty: none is known.
	Kept  string `json:"kept,omitempty"`
	Issue string `json:"issue,omitempty"` // the upstream issue, or the finding
	// Explored is the release in which `make explore` found the lie by itself. Empty: it hasn't yet.
	Explored string `json:"explored,omitempty"`
	// Provider is whose releases these are. Empty: KWOK's, which are those of core.
	Provider string `json:"provider,omitempty"`
	// Tells is the lie of the faulty provider that is told, one of another level. Empty: that of this name.
	Tells string `json:"tells,omitempty"`
	// From is the release that is upgraded to the lying one. Empty: that of KWOK's adapter.
	From string `json:"from,omitempty"`
	// Gates are feature gates that the specs need.
	Gates map[string]bool `json:"gates,omitempty"`

	Level string `json:"level"` // the name of its file: cloud, core, saboteur, schema, upgrade, releases
}

// gates formats the lie's feature gates for the variable GATES.
func (l lie) gates() string { return gatesVariable(l.Gates) }

// gatesVariable formats feature gates for the variable GATES.
func gatesVariable(gates map[string]bool) string {
	var parts []string
	for _, name := range slices.Sorted(maps.Keys(gates)) {
		parts = append(parts, fmt.Sprintf("%s=%t", name, gates[name]))
	}
	return strings.Join(parts, ",")
}

// loadLies reads all lies in a folder and checks them. The error holds all mistakes.
func loadLies(folder string, suites []*e2e.Suite) ([]lie, error) {
	files, err := filepath.Glob(filepath.Join(folder, "*.yaml"))
	if err == nil && len(files) == 0 {
		err = fmt.Errorf("no lies in %s; run this from the root of the repository", folder)
	}
	if err != nil {
		return nil, err
	}
	var all []lie
	var mistakes []error
	names := map[string]bool{}
	for _, file := range files {
		raw, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		var lies []lie
		if err := yaml.UnmarshalStrict(raw, &lies); err != nil {
			mistakes = append(mistakes, fmt.Errorf("%s: %w", file, err))
			continue
		}
		for _, l := range lies {
			l.Level = strings.TrimSuffix(filepath.Base(file), ".yaml")
			if err := l.check(suites, names[l.Name]); err != nil {
				mistakes = append(mistakes, fmt.Errorf("%s: %q: %w", file, l.Name, err))
			}
			names[l.Name] = true
			all = append(all, l)
		}
	}
	return all, errors.Join(mistakes...)
}

func (l lie) check(suites []*e2e.Suite, again bool) error {
	var mistakes []error
	mistake := func(wrong bool, format string, args ...any) {
		if wrong {
			mistakes = append(mistakes, fmt.Errorf(format, args...))
		}
	}
	mistake(l.Name == "" || l.Lie == "" || l.Promise == "", "name, lie and promise are needed")
	mistake(again, "there is another lie of that name")
	mistake(len(l.Specs) == 0, "no spec claims to catch it")
	for _, s := range l.Specs {
		_, err := e2e.Find(suites, s)
		mistake(err != nil, "%w", err)
	}
	mistake((l.Level == releases) != (l.Karpenter != ""), "karpenter is what lies of releases.yaml have, and no others")
	mistake(l.Level != upgrades && l.Tells+l.From != "", "tells and from belong to lies of upgrade.yaml")
	mistake(l.Level != releases && l.Kept+l.Issue+l.Provider+l.Explored != "",
		"kept, issue, provider and explored belong to lies of releases.yaml")
	return errors.Join(mistakes...)
}

// choose returns the lies in a list of names and levels.
func choose(all []lie, list string) ([]lie, error) {
	var chosen []lie
	var mistakes []error
	for want := range strings.SplitSeq(list, ",") {
		found := slices.DeleteFunc(slices.Clone(all), func(l lie) bool { return l.Name != want && l.Level != want })
		if len(found) == 0 {
			mistakes = append(mistakes, noLie(want, all))
		}
		for _, l := range found {
			if !slices.ContainsFunc(chosen, func(c lie) bool { return c.Name == l.Name }) {
				chosen = append(chosen, l)
			}
		}
	}
	return chosen, errors.Join(mistakes...)
}

// noLie returns the error for a name that is neither a lie nor a level.
func noLie(name string, all []lie) error {
	var names, levels []string
	for _, l := range all {
		names, levels = append(names, l.Name), append(levels, l.Level)
	}
	slices.Sort(levels)
	levels = slices.Compact(levels)
	if near := providers.Nearest(name, slices.Concat(levels, names)); near != "" {
		return fmt.Errorf("LIE=%s: there is no such lie or level, did you mean %s?", name, near)
	}
	return fmt.Errorf("LIE=%s: there is no such lie or level; the levels are %s, and their lies are in %s", name,
		strings.Join(levels, ", "), filepath.Join(faulty, "lies"))
}
