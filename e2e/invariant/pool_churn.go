package invariant

import (
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/e2e/history"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
)

const (
	// underway is how long after a change NodeClaims may still be made by the old state.
	underway = 10 * time.Second
	// Within runawayWindow a pool may get runawayFloor NodeClaims without new input, and two
	// for each NodeClaim that may be replaced, replica, or pod that may need one.
	runawayWindow = time.Minute
	runawayFloor  = 30
)

// poolChurn holds what happened to a pool since the last input to it.
type poolChurn struct {
	input   time.Time       // zero if none was seen
	dying   time.Time       // when the pool's deletion began; zero if it did not
	unready time.Time       // when it was seen first not to be ready, and since; zero if it is, says nothing, or is static
	drifted map[string]bool // NodeClaims that lost Drifted, by UID

	replicas, nodeClaims int         // wanted (static pools), existing
	made                 []time.Time // when NodeClaims were made, within the window
	pods, base           int         // most pods when one was made, and NodeClaims before them
}

// begin takes a pool's spec as new input.
func (p *poolChurn) begin(pool *unstructured.Unstructured, now time.Time) {
	replicas, _ := fieldAt(pool, "spec", "replicas").(int64)
	p.replicas, p.dying = int(replicas), time.Time{}
	p.forget(now)
}

// follow notes since when a pool is not ready.
func (p *poolChurn) follow(pool *history.Object, now time.Time) {
	is, said := karpenter.Condition(pool.Unstructured(), karpenter.Ready)
	_, static := replicasOf(pool)
	switch {
	case static || !said || is.Status == metav1.ConditionTrue:
		p.unready = time.Time{}
	case p.unready.IsZero():
		p.unready = now
	}
}

// forget resets all counts, as after any input.
func (p *poolChurn) forget(now time.Time) {
	p.input, p.drifted, p.made = now, nil, nil
}

// judgeMade judges a new NodeClaim of the pool. pods is how many there are.
func (p *poolChurn) judgeMade(m *check.Moment, pool string, pods int) {
	m.Tested()
	if late := m.Time.Sub(p.dying); !p.dying.IsZero() && late > underway {
		m.Suspect("NodeClaim %s was made for pool %s, %s after the pool's deletion",
			m.Event.Object, pool, late.Round(time.Second))
	}
	if late := m.Time.Sub(p.unready); !p.unready.IsZero() && late > underway+validation {
		m.Suspect("NodeClaim %s was made for pool %s, which has not been ready for %s", m.Event.Object, pool,
			late.Round(time.Second))
	}
	for len(p.made) > 0 && m.Time.Sub(p.made[0]) > runawayWindow {
		p.made = p.made[1:]
	}
	if len(p.made) == 0 {
		p.pods, p.base = pods, p.nodeClaims
	}
	p.nodeClaims, p.pods = p.nodeClaims+1, max(p.pods, pods)
	p.made = append(p.made, m.Time)
	if allowed := runawayFloor + 2*(p.pods+p.base+p.replicas); len(p.made) > allowed {
		m.Suspect("pool %s got %d NodeClaims within %s although nothing changed; at most %d are allowed",
			pool, len(p.made), m.Time.Sub(p.made[0]).Round(time.Second), allowed).Beside(m.Event.Object)
	}
}

func (p *poolChurn) judgeDrift(m *check.Moment, pool string) {
	nodeClaim := m.Event.Object
	switch is, was := isTrue(nodeClaim, karpenter.Drifted), isTrue(m.Before, karpenter.Drifted); {
	case is != was && driftOverwritten(m):
	case was && !is:
		if p.drifted == nil {
			p.drifted = map[string]bool{}
		}
		p.drifted[nodeClaim.UID] = true
	case is && !was:
		m.Tested()
		if p.drifted[nodeClaim.UID] {
			m.Suspect("Drifted of NodeClaim %s came, went and came again although neither pool %s nor its NodeClass changed",
				nodeClaim, pool)
		}
		late := timeAt(nodeClaim.Unstructured(), "metadata", "creationTimestamp").Sub(p.input)
		if !p.input.IsZero() && late > underway {
			m.Suspect("NodeClaim %s has drifted, and was made %s after the last change of its pool and its NodeClass: "+
				"nothing has changed since then", nodeClaim, late.Round(time.Second))
		}
	}
}

// driftOverwritten reports whether another controller may have removed Drifted, or brought it
// back, by a stale write. Such a controller writes all conditions to change one of its own, such
// as Initialized or DisruptionReason, and has not seen that Drifted came or went (Karpenter:
// pkg/controllers/nodeclaim/lifecycle, pkg/controllers/disruption/queue.go; seen from v1.9.0
// to v1.15.0). Drifted is right again at once. The controller that adds and removes Drifted
// changes no other controller's condition.
func driftOverwritten(m *check.Moment) bool {
	for _, c := range karpenter.Conditions(m.Event.Object.Unstructured()) {
		switch c.Type {
		case karpenter.Drifted, karpenter.Consolidatable, karpenter.Ready:
			continue
		}
		was, _ := karpenter.Condition(m.Before.Unstructured(), c.Type)
		// A new time alone is a controller that rewrites a condition that it has not seen yet.
		if was.Status != c.Status || !was.LastTransitionTime.Equal(&c.LastTransitionTime) {
			return true
		}
	}
	return false
}
