package invariant

import (
	"time"

	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/e2e/history"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
)

// expireWithin is how late a NodeClaim may expire. Karpenter waits for exactly this moment. A
// request that fails is repeated within a few seconds.
const expireWithin = 30 * time.Second

// expiresInTime checks that a NodeClaim is being deleted once its expireAfter is over, whatever
// its node runs, and whatever budgets, limits and annotations say: since v1 they don't hold
// expiration. Only the NodeClaim's own expireAfter counts, which its pool had when it was made.
// While no controller leads, nothing expires.
func expiresInTime() Invariant {
	return Invariant{
		Name: "NodeClaims expire when their time is over",
		Source: "NodeClaim spec.expireAfter; https://karpenter.sh/docs/concepts/disruption/#expiration; " +
			"Karpenter: pkg/controllers/nodeclaim/expiration/controller.go",
		Untested: "no NodeClaim had an expireAfter that was over",
		Reads:    resources{karpenter.NodeClaims, karpenter.Events},
		New:      func(Params) check.Monitor { return &expirationMonitor{timers: newTimers()} },
	}
}

type expirationMonitor struct {
	takeover
	timers
}

func (e *expirationMonitor) Observe(m *check.Moment) {
	e.judgeOverdue(m) // by the state before this moment
	e.takeover.observe(m)
	for _, nodeClaim := range m.Seen(karpenter.NodeClaims) {
		e.follow(m, nodeClaim)
	}
	if m.Deleted() && m.Resource() == karpenter.NodeClaims {
		e.stop(m.Event.Object.Name)
	}
}

// follow sets when a NodeClaim must be ending. It is tested if it ends after it has expired.
func (e *expirationMonitor) follow(m *check.Moment, nodeClaim *history.Object) {
	at := expiration(nodeClaim)
	switch {
	case at.IsZero():
	case isDeleting(nodeClaim):
		if m.Before != nil && !isDeleting(m.Before) && !m.Time.Before(at) {
			m.Tested()
		}
		e.stop(nodeClaim.Name)
	case m.Before == nil:
		if at.Before(m.Time) { // it was there before the recording
			at = m.Time
		}
		e.timers.set(nodeClaim.Name, e.takeover.due(at, expireWithin))
	}
}

// expiration returns when a NodeClaim expires; zero if it never does.
func expiration(nodeClaim *history.Object) time.Time {
	u := nodeClaim.Unstructured()
	after, err := time.ParseDuration(textAt(u, "spec", "expireAfter"))
	if err != nil { // Never
		return time.Time{}
	}
	return u.GetCreationTimestamp().Add(after)
}

func (e *expirationMonitor) judgeOverdue(m *check.Moment) {
	for _, name := range e.expired(m.Time) {
		nodeClaim := m.World.Get(karpenter.NodeClaims, "", name)
		if m.Resource() == karpenter.NodeClaims && m.Event.Object.Name == name {
			nodeClaim = m.Before // the moment comes too late
		}
		if nodeClaim == nil {
			continue
		}
		at := expiration(nodeClaim)
		if due := e.takeover.due(at, expireWithin); m.Time.Before(due) {
			e.timers.set(name, due)
			continue
		}
		m.Tested()
		m.Suspect("NodeClaim %s expired at %s, and %s later it is not being deleted", nodeClaim, timeOfDay(at),
			m.Time.Sub(at).Round(time.Second))
	}
}
