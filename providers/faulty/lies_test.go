package main

import (
	"bytes"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
)

// metadata is an entry of lies/*.yaml, which `make lies` reads.
type metadata struct {
	Name    string          `yaml:"name"`
	Lie     string          `yaml:"lie"`
	Promise string          `yaml:"promise"`
	Specs   []string        `yaml:"specs"`
	Gates   map[string]bool `yaml:"gates"`
	Tells   string          `yaml:"tells"` // a lie of another level, in place of code of its own
	From    string          `yaml:"from"`
}

func read(t *testing.T, level string) []metadata {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("lies", level+".yaml"))
	if err != nil {
		t.Fatal(err)
	}
	var said []metadata
	decoder := yaml.NewDecoder(bytes.NewReader(text))
	decoder.KnownFields(true)
	if err := decoder.Decode(&said); err != nil {
		t.Fatalf("%s.yaml: %v", level, err)
	}
	return said
}

func TestEveryLieIsToldOnce(t *testing.T) {
	told := map[string]string{}
	for level, table := range levels() {
		for name := range table {
			if other, twice := told[name]; twice {
				t.Errorf("%s is a lie of the levels %s and %s", name, other, level)
			}
			told[name] = level
		}
	}
	if len(told) != len(lies()) {
		t.Errorf("%d names are told, and %d found", len(told), len(lies()))
	}
}

func TestCodeAndMetadataAgree(t *testing.T) {
	for level, table := range levels() {
		var said []string
		for _, m := range read(t, level) {
			if m.Tells == "" {
				said = append(said, m.Name)
			} else if _, err := find(m.Tells); err != nil {
				t.Errorf("lies/%s.yaml: %s: %v", level, m.Name, err)
			}
		}
		for _, name := range said {
			if _, ok := table[name]; !ok {
				t.Errorf("lies/%s.yaml has %s, which no code tells", level, name)
			}
		}
		for _, name := range slices.Sorted(maps.Keys(table)) {
			if !slices.Contains(said, name) {
				t.Errorf("%s is told by code, and lies/%s.yaml lacks it", name, level)
			}
		}
		if slices.Sort(said); len(slices.Compact(slices.Clone(said))) != len(said) {
			t.Errorf("lies/%s.yaml has a name twice", level)
		}
	}
}

func TestMetadataIsWhole(t *testing.T) {
	kebab := regexp.MustCompile(`^[a-z]+(-[a-z]+)+$`)
	for level := range levels() {
		for _, m := range read(t, level) {
			if !kebab.MatchString(m.Name) {
				t.Errorf("lies/%s.yaml: %q should be in kebab-case, and say what the lie does", level, m.Name)
			}
			if m.Lie == "" || m.Promise == "" || len(m.Specs) == 0 {
				t.Errorf("lies/%s.yaml: %s lacks its lie, its promise or a spec that catches it", level, m.Name)
			}
		}
	}
}

func TestEveryLieLiesSomewhere(t *testing.T) {
	for name, l := range lies() {
		if reflect.ValueOf(l).IsZero() {
			t.Errorf("%s is honest: none of its fields is set", name)
		}
	}
}

func TestUnknownLiesAreRefused(t *testing.T) {
	if _, err := find("tells-the-truth"); err == nil || !strings.Contains(err.Error(), "forgets-instances") {
		t.Errorf("an unknown lie should be refused, with the names of all; got %v", err)
	}
	_, err := find("forgets-instances,tells-the-truth,never-lies")
	if err == nil || !strings.Contains(err.Error(), `"tells-the-truth" or "never-lies"`) {
		t.Errorf("all unknown lies should be refused at once; got %v", err)
	}
	several, err := find("forgets-instances,never-expires")
	if err != nil || several.Cloud == nil || several.Controllers == nil && several.Client == nil {
		t.Errorf("lies of two levels should be told at a time; got %v, %v", several, err)
	}
	honest, err := find("")
	if err != nil || honest.Cloud != nil {
		t.Errorf("no lie should be the honest provider; got %v, %v", honest, err)
	}
}
