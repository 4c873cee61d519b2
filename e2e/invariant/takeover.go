package invariant

import (
	"time"

	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
)

// takeover follows the kills of the controller. While nobody leads, nothing is done in time.
type takeover struct {
	led time.Time // when the next controller leads at the latest
}

// observe reads the Events of the harness. The invariant must read Events.
func (t *takeover) observe(m *check.Moment) {
	if m.Resource() != karpenter.Events || m.Before != nil {
		return
	}
	if reason, _ := eventOf(m, Harness, "Pod", ReasonKilled); reason != "" {
		t.led = m.Time.Add(karpenter.TakenOver)
	}
}

// due returns when something must be done that is to be done so soon after a moment.
func (t *takeover) due(after time.Time, within time.Duration) time.Time {
	if t.led.After(after) {
		after = t.led
	}
	return after.Add(within)
}
