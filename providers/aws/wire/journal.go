package wire

import (
	"maps"
	"slices"
	"sync"
)

// Journal counts what was asked for.
type Journal struct {
	mu      sync.Mutex
	calls   map[string]int
	refused map[string]int
	unknown map[string]int
	ignored map[string]int
}

// Report is what a Journal has counted, by names such as ec2:CreateFleet.
type Report struct {
	// Calls that were made, those that were refused included.
	Calls map[string]int `json:"calls"`
	// Refused are errors that were answered, by the call and the error's code.
	Refused map[string]int `json:"refused,omitempty"`
	// Unknown are calls that this simulator doesn't know: a new release asks for more.
	Unknown map[string]int `json:"unknown,omitempty"`
	// Ignored are parameters that it takes no notice of, by the call and the parameter.
	Ignored map[string]int `json:"ignored,omitempty"`
}

func newJournal() *Journal {
	return &Journal{calls: map[string]int{}, refused: map[string]int{}, unknown: map[string]int{}, ignored: map[string]int{}}
}

func (j *Journal) count(in map[string]int, name string) {
	j.mu.Lock()
	defer j.mu.Unlock()
	in[name]++
}

// Report is what has been counted so far.
func (j *Journal) Report() Report {
	j.mu.Lock()
	defer j.mu.Unlock()
	return Report{Calls: maps.Clone(j.calls), Refused: maps.Clone(j.refused), Unknown: maps.Clone(j.unknown), Ignored: maps.Clone(j.ignored)}
}

// Unknown names the calls that were not known, in order.
func (j *Journal) Unknown() []string {
	return slices.Sorted(maps.Keys(j.Report().Unknown))
}
