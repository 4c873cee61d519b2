package invariant

import (
	"time"

	"github.com/plumbline-e2e/plumbline/e2e/check"
)

// recovery is how long after a hook, an upgrade or an outage of the API server nothing is due in time. The cloud may
// refuse launches or be slow, and controllers back off from errors.
const recovery = 5 * time.Minute

// calm holds what is due after a while in which the harness disturbs nothing, by its name. The time begins anew when
// another controller takes over from one that was killed, or the clock has jumped. After a fault of the controller's
// requests nothing is due any more: it may last, or leave out an event that never comes again.
//
// The invariant must read Events.
type calm struct {
	within  time.Duration
	absence absence
	timers  timers
	since   map[string]time.Time // since when each waits
	calmed  time.Time            // when the last disturbance is over
	faulted bool                 // requests of the controller have failed
}

func newCalm(within time.Duration) calm {
	return calm{within: within, timers: newTimers(), since: map[string]time.Time{}}
}

func (c *calm) begin(name string, now time.Time) {
	c.since[name] = now
	c.timers.set(name, c.due(now))
}

func (c *calm) stop(name string) {
	delete(c.since, name)
	c.timers.stop(name)
}

func (c *calm) due(since time.Time) time.Time {
	if c.calmed.After(since) {
		since = c.calmed
	}
	return c.absence.due(since, c.within)
}

// disturbed reports whether the last disturbance may not be over.
func (c *calm) disturbed(now time.Time) bool { return c.faulted || c.due(now).After(now.Add(c.within)) }

// overdue returns the names of what is due, sorted, and forgets them.
func (c *calm) overdue(now time.Time) (names []string) {
	for _, name := range c.timers.expired(now) {
		switch due := c.due(c.since[name]); {
		case c.faulted:
		case now.After(due):
			names = append(names, name)
		default: // it was disturbed meanwhile
			c.timers.set(name, due)
		}
	}
	return names
}

func (c *calm) observe(m *check.Moment) {
	c.absence.observe(m)
	if m.Event == nil || m.Before != nil || m.Deleted() {
		return
	}
	switch reason, _ := eventOf(m, Harness, "", ReasonHook, ReasonUpgrade, ReasonInterrupted, ReasonFault); reason {
	case "":
	case ReasonFault:
		c.faulted = true
	default:
		c.calmed = m.Time.Add(recovery)
	}
}
