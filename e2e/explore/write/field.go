package write

import (
	"maps"
	"slices"
	"strconv"
	"strings"
)

// field is a part of an object, as YAML or JSON has it. What isn't there is nil, and has no parts.
type field struct{ any }

func (f field) at(path ...string) field {
	for _, step := range path {
		m, _ := f.any.(map[string]any)
		f = field{m[step]}
	}
	return f
}

func (f field) text() string {
	s, _ := f.any.(string)
	return s
}

func (f field) number() int {
	switch n := f.any.(type) {
	case int64:
		return int(n)
	case float64: // from YAML
		return int(n)
	default:
		return 0
	}
}

// keys returns the names of the parts, sorted.
func (f field) keys() []string {
	m, _ := f.any.(map[string]any)
	return slices.Sorted(maps.Keys(m))
}

// list returns the entries of a list.
func (f field) list() (entries []field) {
	all, _ := f.any.([]any)
	for _, entry := range all {
		entries = append(entries, field{entry})
	}
	return entries
}

// texts returns the strings of a list as arguments of a call, after others.
func (f field) texts(after ...any) []any {
	for _, entry := range f.list() {
		after = append(after, entry.text())
	}
	return after
}

// window returns the numbers of fixtures.WindowEvery for a budget with a schedule.
func (f field) window() (every, minutes int, ok bool) {
	n, found := strings.CutPrefix(f.at("schedule").text(), "*/")
	n, found2 := strings.CutSuffix(n, " * * * *")
	every, err := strconv.Atoi(n)
	minutes, err2 := strconv.Atoi(strings.TrimSuffix(f.at("duration").text(), "m"))
	return every, minutes, found && found2 && err == nil && err2 == nil
}
