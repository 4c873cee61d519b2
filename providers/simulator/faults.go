package simulator

import (
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// Kind is a kind of failure of a cloud.
type Kind string

// The kinds of faults.
const (
	NoCapacity    Kind = "noCapacity"    // launches of a type, in a zone, of a capacity type fail
	Throttle      Kind = "throttle"      // calls are refused because there are too many
	Denied        Kind = "denied"        // calls are refused because a permission is missing
	Failed        Kind = "failed"        // calls are refused by an internal error
	Slow          Kind = "slow"          // answers are delayed By
	Lost          Kind = "lost"          // a call is carried out but gets no answer
	Silent        Kind = "silent"        // a call is not carried out and gets no answer until the client gives up
	Held          Kind = "held"          // a call is carried out and gets no answer until the client gives up
	Stale         Kind = "stale"         // instances are listed as they were By ago
	FailedYetDone Kind = "failedYetDone" // a call is answered as failed, and carried out By later
)

// Kinds returns all kinds of faults.
func Kinds() []Kind {
	return []Kind{NoCapacity, Throttle, Denied, Failed, Slow, Lost, Silent, Held, Stale, FailedYetDone}
}

// Offering is what capacity is launched from. Empty fields of a fault mean any.
type Offering struct {
	Type         string `json:"type,omitempty"`
	Zone         string `json:"zone,omitempty"`
	CapacityType string `json:"capacity,omitempty"` // on-demand, spot or reserved
}

// Fault is a failure that lasts until it has struck Count times, or until Clear.
type Fault struct {
	Kind Kind `json:"kind"`
	// Call is a call's name as in the journal, or its part after the colon; empty: all; "launch": those in
	// Cloud.Launches. Not for NoCapacity and Stale. See also Faults.Know.
	Call string `json:"call,omitempty"`
	// Offering narrows NoCapacity. Only for this kind.
	Offering
	// By is the delay (Slow), the age (Stale) or the lateness (FailedYetDone). Only for these kinds.
	By time.Duration `json:"by,omitempty"`
	// Skip is how many calls the fault spares before it strikes. Not for NoCapacity and Stale.
	Skip int `json:"skip,omitempty"`
	// Count limits how often the fault strikes; 0: until Clear.
	Count int `json:"count,omitempty"`
	// Rate is the probability that the fault strikes each time, from 0 to 1; 0: certain.
	Rate float64 `json:"rate,omitempty"`
	// Struck is how often the fault has struck. A call that is Held counts once it is carried out.
	Struck int `json:"struck"`

	met int // calls that it has spared or struck
}

// String returns a short description of the fault.
func (f Fault) String() string {
	words := []string{string(f.Kind)}
	for _, w := range []string{f.Call, f.Type, f.Zone, f.CapacityType} {
		if w != "" {
			words = append(words, w)
		}
	}
	if f.By > 0 {
		words = append(words, "by "+f.By.String())
	}
	if f.Rate > 0 {
		words = append(words, fmt.Sprintf("at a rate of %g", f.Rate))
	}
	if f.Count > 0 {
		words = append(words, fmt.Sprintf("%d times", f.Count))
	}
	if f.Skip > 0 {
		words = append(words, fmt.Sprintf("after %d calls", f.Skip))
	}
	return strings.Join(words, " ")
}

// validate returns all mistakes in a fault.
func (f *Fault) validate() error {
	if !slices.Contains(Kinds(), f.Kind) {
		return fmt.Errorf("there is no fault kind=%s; there are %s", f.Kind, list(Kinds()))
	}
	timed := f.Kind == Slow || f.Kind == Stale || f.Kind == FailedYetDone
	capacities := []string{"", "on-demand", "spot", "reserved"}
	var wrong []error
	for _, m := range []struct {
		is   bool
		text string
	}{
		{timed && f.By == 0, "by is missing: a duration such as by=3s"},
		{!timed && f.By != 0, fmt.Sprintf("by is only for %s", list([]Kind{Slow, Stale, FailedYetDone}))},
		{f.By < 0, "by can't be negative"},
		{f.Count < 0, "count can't be negative; 0 means until the faults are cleared"},
		{f.Skip < 0, "skip can't be negative: it is how many calls are spared before"},
		{f.Rate < 0 || f.Rate > 1, "rate lies between 0 and 1"},
		{f.Kind == Stale && (f.Count != 0 || f.Rate != 0), "it lasts until it is cleared, without count and rate"},
		{!f.isOfCalls() && f.Call != "", "it is not about calls, so call has no meaning"},
		{!f.isOfCalls() && f.Skip != 0, "it is not about calls, so skip has no meaning"},
		{f.Kind != NoCapacity && f.Offering != Offering{}, "type, zone and capacity are only for noCapacity"},
		{
			!slices.Contains(capacities, f.CapacityType),
			fmt.Sprintf("there is no capacity %q; there are %s", f.CapacityType, list(capacities[1:])),
		},
	} {
		if m.is {
			wrong = append(wrong, fmt.Errorf("fault %s: %s", f.Kind, m.text))
		}
	}
	return errors.Join(wrong...)
}

// list returns words with commas.
func list[S ~string](words []S) string {
	text := make([]string, len(words))
	for n, word := range words {
		text[n] = string(word)
	}
	return strings.Join(text, ", ")
}

// isOfCalls reports whether the fault strikes calls.
func (f *Fault) isOfCalls() bool { return f.Kind != Stale && f.Kind != NoCapacity }

// lacks reports whether the fault, which is NoCapacity, still strikes.
func (f *Fault) lacks() bool { return f.Count == 0 || f.Struck < f.Count }

// meets counts a call that the fault is about, and reports whether the fault strikes it.
func (f *Fault) meets() bool {
	f.met++
	return f.met > f.Skip && (f.Count == 0 || f.met <= f.Skip+f.Count)
}

// launch stands for the calls that launch instances.
const launch = "launch"

func (f *Fault) isAbout(call string, launches []string) bool {
	return f.Call == "" || f.Call == call || strings.HasSuffix(call, ":"+f.Call) ||
		f.Call == launch && slices.Contains(launches, call)
}

func (f *Fault) takes(o Offering) bool {
	return (f.Type == "" || f.Type == o.Type) && (f.Zone == "" || f.Zone == o.Zone) &&
		(f.CapacityType == "" || f.CapacityType == o.CapacityType)
}

// Faults holds what goes wrong on purpose. It is safe for concurrent use.
type Faults struct {
	random   *rand.Rand
	launches []string // names of the calls that launch instances
	known    []string // names of all calls; empty: they are not known

	mu       sync.Mutex
	all      []*Fault
	attempts map[string]*attempt // by the name of what is launched
}

// Know names calls that the cloud answers, as the journal names them. A fault of another call is then a mistake: it
// could never strike. [API.Routes] names its own.
func (f *Faults) Know(calls ...string) {
	f.known = slices.Compact(slices.Sorted(slices.Values(append(f.known, calls...))))
}

// Add starts a fault. Its error names all mistakes in it.
func (f *Faults) Add(fault Fault) error {
	if err := fault.validate(); err != nil {
		return err
	}
	if fault.Call == launch && len(f.launches) == 0 {
		return fmt.Errorf("fault %s: the simulator doesn't say which calls launch instances (Cloud.Launches)", fault.Kind)
	}
	about := func(call string) bool { return fault.isAbout(call, f.launches) }
	if len(f.known) > 0 && !slices.ContainsFunc(f.known, about) {
		return fmt.Errorf("fault %s: there is no call %q; there are %s", fault.Kind, fault.Call, list(f.known))
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.all = append(f.all, &fault)
	return nil
}

// Clear ends all faults.
func (f *Faults) Clear() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.all = nil
}

// Report returns the faults since the last Clear, with how often they have struck.
func (f *Faults) Report() []Fault {
	f.mu.Lock()
	defer f.mu.Unlock()
	all := []Fault{}
	for _, fault := range f.all {
		all = append(all, *fault)
	}
	return all
}

// hits decides at random, by Rate, whether a fault strikes this time.
func (f *Faults) hits(fault *Fault) bool { return fault.Rate == 0 || f.random.Float64() < fault.Rate }

// Call applies the faults to a call and returns their effect. The name is the call's in the journal.
func (f *Faults) Call(name string) (e Effect) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, fault := range f.all {
		if !fault.isOfCalls() || !fault.isAbout(name, f.launches) || !f.hits(fault) || !fault.meets() {
			continue
		}
		if fault.Kind != Held {
			fault.Struck++
		}
		switch fault.Kind {
		case Throttle, Denied, Failed:
			e.Refused = fault.Kind
		case FailedYetDone:
			e.Refused, e.Later = fault.Kind, fault.By
		case Slow:
			e.Delay += fault.By
		case Lost:
			e.Lost = true
		case Silent:
			e.Silent = true
		case Held:
			e.Held, e.done = true, func() { f.strikes(fault) }
		case NoCapacity, Stale: // not about calls
		}
	}
	return e
}

// strikes counts that a fault has struck.
func (f *Faults) strikes(fault *Fault) {
	f.mu.Lock()
	defer f.mu.Unlock()
	fault.Struck++
}

// Shortage tells whether a request for one offering fails because there is no capacity.
func (f *Faults) Shortage(o Offering) bool { return f.Shortages()(o) }

// Shortages returns Shortage for one request that may try several offerings. A fault counts once for the request,
// however many of the offerings it takes.
func (f *Faults) Shortages() func(Offering) bool {
	struck := map[*Fault]bool{}
	return func(o Offering) bool {
		f.mu.Lock()
		defer f.mu.Unlock()
		for _, fault := range f.all {
			if fault.Kind == NoCapacity && (struck[fault] || fault.lacks()) && fault.takes(o) && f.hits(fault) {
				if !struck[fault] {
					struck[fault] = true
					fault.Struck++
				}
				return true
			}
		}
		return false
	}
}

// attempt is a launch for which a provider asks for one offering after another, by calls of their own.
type attempt struct {
	lacks func(Offering) bool
	tried map[Offering]bool
}

// ShortageFor returns Shortage for a provider that asks for one offering after another until the launch of that name
// succeeds. A fault counts once for all of them. An offering that is asked for again begins the next attempt.
func (f *Faults) ShortageFor(launch string, o Offering) bool {
	f.mu.Lock()
	a := f.attempts[launch]
	if a == nil || a.tried[o] {
		a = &attempt{f.Shortages(), map[Offering]bool{}}
		if f.attempts == nil {
			f.attempts = map[string]*attempt{}
		}
		f.attempts[launch] = a
	}
	a.tried[o] = true
	f.mu.Unlock()
	return a.lacks(o)
}

// Stale returns the age of lists of instances.
func (f *Faults) Stale() (by time.Duration) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, fault := range f.all {
		if fault.Kind == Stale {
			by = max(by, fault.By)
		}
	}
	return by
}

// add starts the fault of a query and returns its description.
func (f *Faults) add(query url.Values) (string, error) {
	var fault Fault
	text := func(into *string) func(string) error {
		return func(s string) error { *into = s; return nil }
	}
	parameters := map[string]func(string) error{
		"kind":     func(s string) error { fault.Kind = Kind(s); return nil },
		"call":     text(&fault.Call),
		"action":   text(&fault.Call), // the same, in AWS's word
		"type":     text(&fault.Type),
		"zone":     text(&fault.Zone),
		"capacity": text(&fault.CapacityType),
		"by":       func(s string) (err error) { fault.By, err = time.ParseDuration(s); return err },
		"count":    func(s string) (err error) { fault.Count, err = strconv.Atoi(s); return err },
		"skip":     func(s string) (err error) { fault.Skip, err = strconv.Atoi(s); return err },
		"rate":     func(s string) (err error) { fault.Rate, err = strconv.ParseFloat(s, 64); return err },
	}
	var wrong []error
	for _, name := range slices.Sorted(maps.Keys(query)) {
		parse, there := parameters[name]
		if !there {
			wrong = append(wrong, fmt.Errorf("there is no parameter ?%s=; there are %s", name,
				list(slices.Sorted(maps.Keys(parameters)))))
		} else if value := query.Get(name); value != "" {
			if err := parse(value); err != nil {
				wrong = append(wrong, fmt.Errorf("?%s=%s: %w", name, value, err))
			}
		}
	}
	if err := errors.Join(wrong...); err != nil {
		return "", err
	}
	return fault.String(), f.Add(fault)
}
