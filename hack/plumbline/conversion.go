package main

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"sigs.k8s.io/yaml"

	"github.com/plumbline-e2e/plumbline/e2e/report"
)

// convertedSchemas holds the CRDs of the last releases that serve two versions: Karpenter's, and a provider's.
func convertedSchemas() []string {
	return []string{"e2e/karpenter/testdata/v1.0.8", "providers/aws/testdata/v1.0.8"}
}

const conversionHead = `# Conversion

<!-- Written by ` + "`make conversion`" + ` from the last run. -->

Each field of NodePools, of NodeClaims and of AWS's EC2NodeClasses in the two versions that v1.0.8 serves, and the specs
that expect it in an object that was converted. A field that only one version has is looked for in the other as its
document says: in another field, in an annotation, or unchanged after the way there and back. Of mappings with free
keys, such as labels, the mapping counts. A spec marked "loses" shows that this release loses the field's value.

`

// conversion prints suites/conversion.md from runs of a release that converts, whose folders it is
// given, or else from the last one. It reads the schemas, so it must run at the root of the repository.
func conversion(_ context.Context, runs []string) error {
	outcomes, err := outcomesOf(runs, "make e2e PROVIDER=aws KARPENTER=v1.0.8 FOCUS=^conversion/")
	if err != nil {
		return err
	}
	all, err := convertedFields(convertedSchemas())
	if err != nil {
		return err
	}
	table, untested := conversionTable(all, outcomes)
	if len(untested) > 0 {
		return fmt.Errorf("no spec of the run expects %s", strings.Join(untested, ", "))
	}
	fmt.Print(table)
	return nil
}

// convertedFields returns the fields of the CRDs in folders below spec and status, each with the
// versions that have it.
func convertedFields(folders []string) (map[string][]string, error) {
	var files []string
	for _, folder := range folders {
		found, err := filepath.Glob(filepath.Join(folder, "*.yaml"))
		if err == nil && len(found) == 0 {
			err = fmt.Errorf("no CRDs in %s; run this from the root of the repository", folder)
		}
		if err != nil {
			return nil, err
		}
		files = append(files, found...)
	}
	all := map[string][]string{}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		var crd struct {
			Spec struct {
				Names    struct{ Kind string }
				Versions []struct {
					Name   string
					Schema struct{ OpenAPIV3Schema schema }
				}
			}
		}
		if err := yaml.Unmarshal(text, &crd); err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
		for _, v := range crd.Spec.Versions {
			for _, part := range []string{"spec", "status"} {
				for _, leaf := range v.Schema.OpenAPIV3Schema.Properties[part].leaves(crd.Spec.Names.Kind + "." + part) {
					all[leaf] = append(all[leaf], v.Name)
				}
			}
		}
	}
	return all, nil
}

// conversionTable formats the fields with the specs that expect them. It also returns those that no
// spec expects in a version that has them, such as "v1/NodePool.spec.weight".
func conversionTable(all map[string][]string, outcomes []report.Outcome) (table string, untested []string) {
	rows := map[string][]string{}
	for _, field := range slices.Sorted(maps.Keys(all)) {
		var specs []expectation
		for _, version := range all[field] {
			those := expecting(version, field, outcomes)
			if len(those) == 0 {
				untested = append(untested, version+"/"+field)
			}
			specs = append(specs, those...)
		}
		slices.SortFunc(specs, func(a, b expectation) int { return cmp.Compare(a.spec, b.spec) })
		specs = slices.Compact(specs)
		kind, _, _ := strings.Cut(field, ".")
		rows[kind] = append(rows[kind], fmt.Sprintf("| `%s` | %s | %d | %s |", field, strings.Join(all[field], ", "),
			len(specs), strings.Join(foremost(specs), ", ")))
	}
	var b strings.Builder
	b.WriteString(conversionHead)
	for _, kind := range slices.Sorted(maps.Keys(rows)) {
		fmt.Fprintf(&b, "## %s\n\n| Field | Versions | Specs | Such as |\n|---|---|---|---|\n%s\n\n", kind,
			strings.Join(rows[kind], "\n"))
	}
	return strings.TrimSuffix(b.String(), "\n"), untested
}

// expectation is a spec that expects a field.
type expectation struct {
	spec   string
	loses  bool // it shows that the field's value is lost
	fields int  // that it sets or expects
}

// String returns the spec, and whether it shows a loss.
func (e expectation) String() string {
	if e.loses {
		return e.spec + " (loses)"
	}
	return e.spec
}

// expecting returns the specs that expect a field of a version, or a part of it.
func expecting(version, field string, outcomes []report.Outcome) (all []expectation) {
	wanted := version + "/" + field
	for _, o := range outcomes {
		if !strings.HasPrefix(o.ID, "conversion/") {
			continue // it reads what it has written, in the same version
		}
		if slices.ContainsFunc(o.Fields, func(f string) bool { return f == wanted || strings.HasPrefix(f, wanted+".") }) {
			all = append(all, expectation{o.ID, loses(o, field), len(o.Fields)})
		}
	}
	return all
}

// indexes matches indexes of lists.
var indexes = regexp.MustCompile(`\[\d+\]`)

// loses reports whether a spec is known to show that a field's value is lost.
func loses(o report.Outcome, field string) bool {
	_, path, _ := strings.Cut(field, ".")
	return o.Verdict == report.Known && slices.ContainsFunc(o.Broke, func(b report.Broken) bool {
		what := indexes.ReplaceAllString(b.What, "")
		return strings.Contains(what, path+" is ") || strings.Contains(what, path+".") // a key of its mapping
	})
}

// foremost returns the specs that tell most of a field: those that show a loss, and then those that
// have the fewest other fields.
func foremost(all []expectation) []string {
	slices.SortFunc(all, func(a, b expectation) int {
		switch {
		case a.loses && !b.loses:
			return -1
		case b.loses && !a.loses:
			return 1
		}
		return cmp.Or(cmp.Compare(a.fields, b.fields), cmp.Compare(a.spec, b.spec))
	})
	var specs []string
	for _, e := range all[:min(4, len(all))] {
		specs = append(specs, e.String())
	}
	return specs
}
