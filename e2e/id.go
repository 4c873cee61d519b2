package e2e

import (
	"errors"
	"fmt"
	"path"
	"regexp"
	"runtime"
	"strings"

	"github.com/plumbline-e2e/plumbline/providers"
)

// unfit matches what an ID can't contain between two slashes.
var unfit = regexp.MustCompile(`[^a-z0-9]+`)

// ID identifies the spec in FOCUS, reports and known failures. It consists of the folder and
// the file that declare the spec, and its row: "drift/one-to-one",
// "api/durations/expire-after". It stays when the sentence changes.
func (s *Spec) ID() string { return s.id }

// caller returns where its caller was called, as file:line, and the ID of a spec declared
// there. The folder comes from the import path, which is the same in every checkout.
func caller() (source, id string) {
	pc, file, line, _ := runtime.Caller(2)
	folder, _, _ := strings.Cut(path.Base(runtime.FuncForPC(pc).Name()), ".")
	name := strings.TrimSuffix(path.Base(file), ".go")
	return fmt.Sprintf("%s:%d", file, line), fit(folder) + "/" + fit(name)
}

// fit returns a folder's or a file's name in the form for IDs, without the suffix of tests.
func fit(name string) string {
	return strings.Trim(unfit.ReplaceAllString(strings.ToLower(strings.TrimSuffix(name, "_test")), "-"), "-")
}

// identify gives a spec its ID, unless it is a copy that has one. It panics if the row can't
// end an ID, or if another spec of the suite has the same ID.
func (s *Suite) identify(spec *Spec, id string) {
	if spec.id == "" {
		if spec.id = id; spec.Row != "" {
			spec.id += "/" + spec.Row
		}
	}
	if fit(spec.Row) != spec.Row {
		panic(fmt.Sprintf("suite %q, spec %q: Row needs words of small letters and digits with hyphens between: %q", s.Name,
			spec.Name, spec.Row))
	}
	for _, other := range s.specs {
		if other.id == spec.id {
			panic(fmt.Sprintf("suite %q has two specs with the ID %s: give %q a file of its own, or a Row", s.Name,
				spec.id, spec.Name))
		}
	}
}

// checkIDsDiffer returns an error for every two specs of different suites with the same ID.
func checkIDsDiffer(suites []*Suite) error {
	var mistakes []error
	by := map[string]*Spec{}
	for _, suite := range suites {
		for _, spec := range suite.specs {
			if other := by[spec.id]; other != nil {
				mistakes = append(mistakes, fmt.Errorf("two specs have the ID %s: at %s and at %s", spec.id, other.source,
					spec.source))
			}
			by[spec.id] = spec
		}
	}
	return errors.Join(mistakes...)
}

// Find returns the spec with an ID. The error suggests the most similar ID.
func Find(suites []*Suite, id string) (*Spec, error) {
	var all []string
	for _, suite := range suites {
		for _, spec := range suite.specs {
			if spec.id == id {
				return spec, nil
			}
			all = append(all, spec.id)
		}
	}
	if near := providers.Nearest(id, all); near != "" {
		return nil, fmt.Errorf("there is no spec %s, did you mean %s? `make list` shows them all", id, near)
	}
	return nil, fmt.Errorf("there is no spec %s; `make list` shows them all", id)
}

// folder returns the first part of an ID.
func folder(id string) string {
	first, _, _ := strings.Cut(id, "/")
	return first
}
