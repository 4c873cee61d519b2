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
// Nothing is due while the harness disturbs the controller.
func expiresInTime() Invariant {
	return Invariant{
		Name: "NodeClaims expire when their time is over",
		Source: "NodeClaim spec.expireAfter; https://karpenter.sh/docs/concepts/disruption/#expiration; " +
			"Karpenter: pkg/controllers/nodeclaim/expiration/controller.go",
		Untested: "no NodeClaim had an expireAfter that was over",
		Reads:    resources{karpenter.NodeClaims, karpenter.Events},
		New:      func(Params) check.Monitor { return &expirationMonitor{newCalm(expireWithin)} },
	}
}

// expirationMonitor waits for each NodeClaim from its expiration on, by its name.
type expirationMonitor struct{ calm }

func (e *expirationMonitor) Observe(m *check.Moment) {
	// Judge by the state before this moment.
	for _, name := range e.overdue(m.Time) {
		nodeClaim := m.World.Get(karpenter.NodeClaims, "", name)
		if m.Resource() == karpenter.NodeClaims && m.Event.Object.Name == name {
			nodeClaim = m.Before
		}
		at, _ := karpenter.Expires(nodeClaim.Unstructured())
		m.Tested()
		m.Suspect("NodeClaim %s expired at %s, and %s later it is not being deleted", nodeClaim, timeOfDay(at),
			m.Time.Sub(at).Round(time.Second))
	}
	e.observe(m)
	for _, nodeClaim := range m.Seen(karpenter.NodeClaims) {
		e.follow(m, nodeClaim)
	}
	if m.Deleted() && m.Resource() == karpenter.NodeClaims {
		e.stop(m.Event.Object.Name)
	}
}

// follow waits for a new NodeClaim's end. It is tested if it ends after it has expired.
func (e *expirationMonitor) follow(m *check.Moment, nodeClaim *history.Object) {
	at, ever := karpenter.Expires(nodeClaim.Unstructured())
	switch {
	case !ever:
	case isDeleting(nodeClaim):
		if m.Before != nil && !isDeleting(m.Before) && !m.Time.Before(at) {
			m.Tested()
		}
		e.stop(nodeClaim.Name)
	case m.Before == nil:
		if at.Before(m.Time) { // it was there before the recording
			at = m.Time
		}
		e.begin(nodeClaim.Name, at)
	}
}
