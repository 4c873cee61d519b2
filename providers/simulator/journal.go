package simulator

import (
	"maps"
	"regexp"
	"slices"
	"sync"
)

// Journal counts calls, refusals, unknown calls and ignored parameters. Calls have names such as ec2:CreateFleet or
// PUT microsoft.compute/virtualmachines/*.
type Journal struct {
	mu     sync.Mutex
	counts Report
}

// Report holds the counts of a Journal.
type Report struct {
	// Calls counts all calls, including refused ones.
	Calls map[string]int `json:"calls"`
	// Writes counts those of the calls that may change the cloud.
	Writes map[string]int `json:"writes"`
	// Refused counts error answers, by the call and the error's code.
	Refused map[string]int `json:"refused,omitempty"`
	// Unknown counts calls that the simulator does not know, such as those of a new release.
	Unknown map[string]int `json:"unknown,omitempty"`
	// Ignored counts parameters that the simulator ignores, by the call and the parameter.
	Ignored map[string]int `json:"ignored,omitempty"`
}

// NewJournal returns a journal without counts.
func NewJournal() *Journal {
	return &Journal{counts: Report{
		Calls: map[string]int{}, Refused: map[string]int{}, Unknown: map[string]int{}, Ignored: map[string]int{},
	}}
}

func (j *Journal) count(in map[string]int, name string) {
	j.mu.Lock()
	defer j.mu.Unlock()
	in[name]++
}

// CountCall counts a call, whatever becomes of it.
func (j *Journal) CountCall(name string) { j.count(j.counts.Calls, name) }

// CountRefusal counts an error answer with its code.
func (j *Journal) CountRefusal(name, code string) { j.count(j.counts.Refused, name+" "+code) }

// CountUnknown counts a call that the simulator does not know.
func (j *Journal) CountUnknown(name string) { j.count(j.counts.Unknown, name) }

// CountIgnored counts a parameter that the simulator ignores.
func (j *Journal) CountIgnored(name, parameter string) { j.count(j.counts.Ignored, name+" "+parameter) }

// Report returns the counts so far.
func (j *Journal) Report() Report {
	j.mu.Lock()
	defer j.mu.Unlock()
	writes := maps.Clone(j.counts.Calls)
	maps.DeleteFunc(writes, func(name string, _ int) bool { return reads.MatchString(name) })
	return Report{
		Calls: maps.Clone(j.counts.Calls), Writes: writes, Refused: maps.Clone(j.counts.Refused),
		Unknown: maps.Clone(j.counts.Unknown), Ignored: maps.Clone(j.counts.Ignored),
	}
}

// reads matches the names of calls that change nothing: by the method of HTTP, or by an action's verb in AWS's way.
var reads = regexp.MustCompile(`^(GET|HEAD) |:(Describe|Get|List|Receive)`)

// Unknown returns the names of the unknown calls, sorted.
func (j *Journal) Unknown() []string { return slices.Sorted(maps.Keys(j.Report().Unknown)) }
