package wire

import (
	"maps"
	"slices"
	"sync"
)

// Journal counts calls, errors, unknown calls and ignored parameters.
type Journal struct {
	mu      sync.Mutex
	calls   map[string]int
	refused map[string]int
	unknown map[string]int
	ignored map[string]int
}

// Report holds the counts of a Journal, by names such as ec2:CreateFleet.
type Report struct {
	// Calls counts all calls, including refused ones.
	Calls map[string]int `json:"calls"`
	// Refused counts error answers, by the call and the error's code.
	Refused map[string]int `json:"refused,omitempty"`
	// Unknown counts calls that this simulator does not know, such as those of a new release.
	Unknown map[string]int `json:"unknown,omitempty"`
	// Ignored counts parameters that the simulator ignores, by the call and the parameter.
	Ignored map[string]int `json:"ignored,omitempty"`
}

func newJournal() *Journal {
	return &Journal{
		calls: map[string]int{}, refused: map[string]int{}, unknown: map[string]int{},
		ignored: map[string]int{},
	}
}

func (j *Journal) count(in map[string]int, name string) {
	j.mu.Lock()
	defer j.mu.Unlock()
	in[name]++
}

// Report returns the counts so far.
func (j *Journal) Report() Report {
	j.mu.Lock()
	defer j.mu.Unlock()
	return Report{
		Calls: maps.Clone(j.calls), Refused: maps.Clone(j.refused), Unknown: maps.Clone(j.unknown),
		Ignored: maps.Clone(j.ignored),
	}
}

// Unknown returns the names of the unknown calls, sorted.
func (j *Journal) Unknown() []string {
	return slices.Sorted(maps.Keys(j.Report().Unknown))
}
