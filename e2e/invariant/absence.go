package invariant

import (
	"strings"
	"time"

	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
)

// absence follows what keeps the controller from doing anything in time: that it is killed or upgraded, until the next
// one leads, and jumps of the clock, past what was due meanwhile.
type absence struct {
	until time.Time // when the controller is back at the latest
}

// observe reads the Events of the harness. The invariant must read Events.
func (a *absence) observe(m *check.Moment) {
	if m.Resource() != karpenter.Events || m.Before != nil {
		return
	}
	back := m.Time
	switch reason, _ := eventOf(m, Harness, "", ReasonKilled, ReasonUpgrade, ReasonJump); reason {
	case ReasonKilled, ReasonUpgrade:
		back = back.Add(karpenter.TakenOver)
	case ReasonJump:
		back = back.Add(jumped(karpenter.EventMessage(m.Event.Object.Unstructured())))
	}
	if back.After(a.until) {
		a.until = back
	}
}

// jumped returns how far the clock jumps, which ends the message of an Event about it.
func jumped(message string) time.Duration {
	d, _ := time.ParseDuration(message[strings.LastIndex(message, " ")+1:])
	return d
}

// due returns when something must be done that is to be done so soon after a moment.
func (a *absence) due(after time.Time, within time.Duration) time.Time {
	if a.until.After(after) {
		after = a.until
	}
	return after.Add(within)
}
