package invariant

import (
	"slices"
	"time"
)

// timers holds the times by which something is due, by its name.
type timers struct {
	due   map[string]time.Time
	first time.Time // nothing is due before it; zero if nothing is due
}

func newTimers() timers { return timers{due: map[string]time.Time{}} }

func (t *timers) set(name string, due time.Time) {
	t.due[name] = due
	t.wake(due)
}

func (t *timers) stop(name string) { delete(t.due, name) }

// expired stops the timers that are over, and returns their names, sorted.
func (t *timers) expired(now time.Time) []string {
	if t.first.IsZero() || !now.After(t.first) {
		return nil
	}
	var over []string
	t.first = time.Time{}
	for name, due := range t.due {
		if now.After(due) {
			over = append(over, name)
			delete(t.due, name)
		} else {
			t.wake(due)
		}
	}
	slices.Sort(over)
	return over
}

func (t *timers) wake(due time.Time) {
	if t.first.IsZero() || due.Before(t.first) {
		t.first = due
	}
}
