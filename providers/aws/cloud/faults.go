package cloud

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"
)

// FaultKind is a way in which the cloud lets its users down.
type FaultKind string

const (
	// NoCapacity: launches of a type, in a zone, of a capacity type fail.
	NoCapacity FaultKind = "noCapacity"
	// Throttle: calls are refused since there are too many.
	Throttle FaultKind = "throttle"
	// Slow: answers take longer by By.
	Slow FaultKind = "slow"
	// Lost: what is asked for is done, and the answer never arrives.
	Lost FaultKind = "lost"
	// Stale: lists of instances tell how things were By ago.
	Stale FaultKind = "stale"
	// Denied: calls are refused for want of a permission.
	Denied FaultKind = "denied"
)

// FaultKinds lists all of them.
func FaultKinds() []FaultKind { return []FaultKind{NoCapacity, Throttle, Slow, Lost, Stale, Denied} }

// Fault is something that goes wrong until it has happened Count times, or until Clear.
type Fault struct {
	Kind FaultKind
	// Action of the API that it hits, such as CreateFleet; empty: each. Not for NoCapacity and Stale.
	Action string
	// Type, Zone and Capacity (spot or on-demand) say what there is none of; empty: any. For NoCapacity.
	Type, Zone, Capacity string
	// By is how late or how old an answer is. For Slow and Stale.
	By time.Duration
	// Count is how often it happens; 0: until Clear.
	Count int
	// Rate is how likely it is each time, from 0 to 1; 0: certain.
	Rate float64
}

// String is the fault in a few words.
func (f Fault) String() string {
	words := []string{string(f.Kind)}
	for _, w := range []string{f.Action, f.Type, f.Zone, f.Capacity} {
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
	return strings.Join(words, " ")
}

func (f Fault) validate() error {
	switch {
	case !slices.Contains(FaultKinds(), f.Kind):
		return fmt.Errorf("there is no fault %q; there are %q", f.Kind, FaultKinds())
	case (f.Kind == Slow || f.Kind == Stale) && f.By <= 0:
		return fmt.Errorf("a fault %q must say by how much", f.Kind)
	case f.Kind == Stale && (f.Count > 0 || f.Rate > 0):
		return fmt.Errorf("a fault %q lasts until it is cleared", f.Kind)
	case f.Count < 0, f.Rate < 0, f.Rate > 1, f.By < 0:
		return fmt.Errorf("fault %q: a count and a time can't be negative, a rate lies between 0 and 1", f.Kind)
	}
	return nil
}

// Inject makes something go wrong from now on.
func (c *Cloud) Inject(f Fault) error {
	if err := f.validate(); err != nil {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.faults = append(c.faults, &f)
	return nil
}

// Clear ends all faults.
func (c *Cloud) Clear() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.faults = nil
}

// Effect is what faults make of a call.
type Effect struct {
	Refusal *Error        // answered instead of a result
	Delay   time.Duration // before the answer
	Lost    bool          // there is no answer
}

// Suffer is what faults make of a call to an action of the API.
func (c *Cloud) Suffer(action string) Effect {
	c.mu.Lock()
	defer c.mu.Unlock()
	var e Effect
	for _, f := range slices.Clone(c.faults) {
		if f.Action != "" && f.Action != action || f.Kind == NoCapacity || f.Kind == Stale || !c.strikes(f) {
			continue
		}
		c.struck(f)
		switch f.Kind {
		case Throttle:
			e.Refusal = &Error{Code: "RequestLimitExceeded", Message: "Request limit exceeded.", Status: http.StatusServiceUnavailable}
		case Denied:
			e.Refusal = &Error{Code: "UnauthorizedOperation", Message: "You are not authorized to perform this operation.", Status: http.StatusForbidden}
		case Slow:
			e.Delay += f.By
		case Lost:
			e.Lost = true
		case NoCapacity, Stale: // not about calls
		}
	}
	return e
}

// strikes tells whether a fault happens this time.
func (c *Cloud) strikes(f *Fault) bool { return f.Rate == 0 || c.random.Float64() < f.Rate }

// struck counts that a fault has happened.
func (c *Cloud) struck(f *Fault) {
	if f.Count == 0 {
		return
	}
	if f.Count--; f.Count == 0 {
		c.faults = slices.DeleteFunc(c.faults, func(other *Fault) bool { return other == f })
	}
}

// staleness is how old lists of instances are.
func (c *Cloud) staleness() time.Duration {
	var by time.Duration
	for _, f := range c.faults {
		if f.Kind == Stale {
			by = max(by, f.By)
		}
	}
	return by
}

// lacks is the fault because of which a pool has no capacity, or nil.
func (c *Cloud) lacks(p Pool) *Fault {
	for _, f := range c.faults {
		if f.Kind == NoCapacity && (f.Type == "" || f.Type == p.Type.Name) && (f.Zone == "" || f.Zone == p.Subnet.Zone.Name) &&
			(f.Capacity == "" || f.Capacity == p.Capacity) && c.strikes(f) {
			return f
		}
	}
	return nil
}
