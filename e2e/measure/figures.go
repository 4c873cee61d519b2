package measure

import (
	"maps"
	"slices"
	"strings"
)

// Names of figures. Those that end with a dot have one figure for each reason or method, beside one for all.
const (
	Nodes       = "nodes"
	Cost        = "cost"
	Launches    = "launches"
	Lifetime    = "lifetime"
	Moved       = "moved"
	Disruptions = "disruptions"
	byReason    = Disruptions + "."
	WaitMedian  = "wait"
	WaitP99     = "wait-p99"
	Waiting     = "waiting"
	Requests    = "requests"
	byMethod    = Requests + "."
	CPU         = "cpu"
	Memory      = "memory"
)

// Description says what a figure is.
type Description struct {
	Name  string `json:"name"`
	Title string `json:"title"`
	Unit  string `json:"unit,omitempty"`
}

// descriptions are in the order in which people read them.
func descriptions() []Description {
	return []Description{
		{Cost, "price of all nodes, on average", "per hour"},
		{Nodes, "nodes, on average", ""},
		{Launches, "nodes launched", ""},
		{Lifetime, "lifetime of a node, median", "s"},
		{Disruptions, "nodes disrupted", ""},
		{Moved, "pods moved by disruptions", ""},
		{WaitMedian, "time until a pod runs, median", "s"},
		{WaitP99, "time until a pod runs, p99", "s"},
		{Waiting, "pods that wait at the end", ""},
		{Requests, "API requests of the controller", ""},
		{CPU, "CPU time of the controller", "s"},
		{Memory, "memory of the controller, most", "MB"},
	}
}

// Describe returns the descriptions of figures, in the order in which people read them.
func Describe(names []string) []Description {
	left := map[string]bool{}
	for _, name := range names {
		left[name] = true
	}
	var all []Description
	for _, d := range descriptions() {
		if left[d.Name] {
			all = append(all, d)
			delete(left, d.Name)
		}
		for _, name := range slices.Sorted(maps.Keys(left)) {
			if part, is := strings.CutPrefix(name, d.Name+"."); is {
				all = append(all, Description{name, d.Title + ": " + part, d.Unit})
				delete(left, name)
			}
		}
	}
	return all
}

// Known returns the names of all figures; those with parts also stand for "name.part".
func Known() []string {
	var names []string
	for _, d := range descriptions() {
		names = append(names, d.Name)
	}
	return names
}

// IsKnown reports whether there is a figure of that name, or may be.
func IsKnown(name string) bool {
	return slices.Contains(Known(), name) || strings.HasPrefix(name, byReason) || strings.HasPrefix(name, byMethod)
}
