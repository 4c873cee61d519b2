package invariant

import (
	"bytes"
	"strings"
	"time"

	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/e2e/history"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
)

// takesOver is when another controller leads at the latest after one that died: it is started, on a busy machine, and
// waits for the lease from then on.
const takesOver = time.Minute

// absence follows what keeps the controller from doing anything in time: that it is killed or upgraded, until the next
// one leads, and jumps of the clock, past what was due meanwhile.
type absence struct {
	until time.Time // when the controller is back from what is over
	died  time.Time // when one died whose successor doesn't lead yet; zero: none
}

// observe reads the Events of the harness. The invariant must read Events.
func (a *absence) observe(m *check.Moment) {
	if m.Resource() != karpenter.Events || m.Before != nil {
		return
	}
	if !a.died.IsZero() && beginsToLead(m.Event.Object) {
		a.until = latest(a.until, latest(m.Time, a.died.Add(karpenter.TakenOver)))
		a.died = time.Time{}
	}
	switch reason, _ := eventOf(m, Harness, "", ReasonKilled, ReasonUpgrade, ReasonJump); reason {
	case ReasonKilled, ReasonUpgrade:
		a.died = m.Time
	case ReasonJump:
		a.until = latest(a.until, m.Time.Add(jumped(karpenter.EventMessage(m.Event.Object.Unstructured()))))
	}
}

// beginsToLead reports whether an Event says that a controller of the provider's has the lease (client-go:
// tools/leaderelection/resourcelock).
func beginsToLead(event *history.Object) bool {
	if !bytes.Contains(event.Raw(), []byte(`"LeaderElection"`)) {
		return false
	}
	about := karpenter.EventInvolved(event.Unstructured())
	return about.Kind == "Lease" && strings.Contains(about.Name, "karpenter")
}

func latest(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// jumped returns how far the clock jumps, which ends the message of an Event about it.
func jumped(message string) time.Duration {
	d, _ := time.ParseDuration(message[strings.LastIndex(message, " ")+1:])
	return d
}

// due returns when something must be done that is to be done so soon after a moment.
func (a *absence) due(after time.Time, within time.Duration) time.Time {
	after = latest(after, a.until)
	if !a.died.IsZero() {
		after = latest(after, a.died.Add(takesOver))
	}
	return after.Add(within)
}
