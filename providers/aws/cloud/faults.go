package cloud

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"
)

// FaultKind is a kind of failure of the cloud.
type FaultKind string

const (
	// NoCapacity fails launches of a type, in a zone, of a capacity type.
	NoCapacity FaultKind = "noCapacity"
	// Throttle refuses calls because there are too many.
	Throttle FaultKind = "throttle"
	// Slow delays answers by By.
	Slow FaultKind = "slow"
	// Lost carries out a call but sends no answer.
	Lost FaultKind = "lost"
	// Stale lists instances as they were By ago.
	Stale FaultKind = "stale"
	// Denied refuses calls because a permission is missing.
	Denied FaultKind = "denied"
)

// FaultKinds returns all kinds of faults.
func FaultKinds() []FaultKind { return []FaultKind{NoCapacity, Throttle, Slow, Lost, Stale, Denied} }

// Fault is a failure that lasts until it has happened Count times, or until Clear.
type Fault struct {
	Kind FaultKind
	// Action is an API action, such as CreateFleet; empty: all. Not for NoCapacity and Stale.
	Action string
	// Type, Zone and Capacity (spot or on-demand) narrow NoCapacity; empty: any.
	Type, Zone, Capacity string
	// By is the delay (Slow) or the age (Stale) of an answer. Only for these kinds.
	By time.Duration
	// Count limits how often the fault happens; 0: until Clear.
	Count int
	// Rate is the probability that the fault happens each time, from 0 to 1; 0: certain.
	Rate float64
}

// String returns a short description of the fault.
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

// Inject starts a fault.
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

// Effect is the effect of all faults on a call.
type Effect struct {
	Refusal *Error        // answered instead of a result
	Delay   time.Duration // before the answer
	Lost    bool          // there is no answer
}

// ApplyFaults applies the faults to a call of an API action and returns their effect.
func (c *Cloud) ApplyFaults(action string) Effect {
	c.mu.Lock()
	defer c.mu.Unlock()
	var e Effect
	for _, f := range slices.Clone(c.faults) {
		if f.Action != "" && f.Action != action || f.Kind == NoCapacity || f.Kind == Stale || !c.hits(f) {
			continue
		}
		c.countHit(f)
		switch f.Kind {
		case Throttle:
			e.Refusal = &Error{
				Code: "RequestLimitExceeded", Message: "Request limit exceeded.",
				Status: http.StatusServiceUnavailable,
			}
		case Denied:
			e.Refusal = &Error{
				Code: "UnauthorizedOperation", Message: "You are not authorized to perform this operation.",
				Status: http.StatusForbidden,
			}
		case Slow:
			e.Delay += f.By
		case Lost:
			e.Lost = true
		case NoCapacity, Stale: // not about calls
		}
	}
	return e
}

// hits decides at random, by Rate, whether a fault happens this time.
func (c *Cloud) hits(f *Fault) bool { return f.Rate == 0 || c.random.Float64() < f.Rate }

// countHit counts one occurrence of a fault and ends the fault after its last.
func (c *Cloud) countHit(f *Fault) {
	if f.Count == 0 {
		return
	}
	if f.Count--; f.Count == 0 {
		c.faults = slices.DeleteFunc(c.faults, func(other *Fault) bool { return other == f })
	}
}

// staleness returns the age of lists of instances.
func (c *Cloud) staleness() time.Duration {
	var by time.Duration
	for _, f := range c.faults {
		if f.Kind == Stale {
			by = max(by, f.By)
		}
	}
	return by
}

// shortage returns a fault that takes a pool's capacity, or nil.
func (c *Cloud) shortage(p Pool) *Fault {
	for _, f := range c.faults {
		if f.Kind == NoCapacity && (f.Type == "" || f.Type == p.Type.Name) &&
			(f.Zone == "" || f.Zone == p.Subnet.Zone.Name) &&
			(f.Capacity == "" || f.Capacity == p.Capacity) && c.hits(f) {
			return f
		}
	}
	return nil
}
