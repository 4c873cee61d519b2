package invariant

import (
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
)

// The part of comesToRest that is about one pool.

const (
	// underway is how long after a change NodeClaims may still be made as before it.
	underway = 10 * time.Second
	// runawayWindow and runawayFloor bound how many NodeClaims a pool may get without
	// new input: within the window at most the floor, and two for each that might
	// have to be replaced, replica, or pod that might need one.
	runawayWindow = time.Minute
	runawayFloor  = 30
)

// begin takes a pool's spec as new input.
func (p *restless) begin(pool *unstructured.Unstructured, now time.Time) {
	replicas, _ := value(pool, "spec", "replicas").(int64)
	p.replicas, p.dying = int(replicas), time.Time{}
	p.anew(now)
}

// anew starts all counts again, as after any input.
func (p *restless) anew(now time.Time) {
	p.input, p.drifted, p.made = now, map[string]bool{}, nil
}

func (p *restless) dies(now time.Time) {
	if p.dying.IsZero() {
		p.dying = now
	}
}

// judgeMade judges a new NodeClaim.
func (p *restless) judgeMade(m *check.Moment, pods int) {
	m.Tested()
	if late := m.Time.Sub(p.dying); !p.dying.IsZero() && late > underway {
		m.Suspect(fmt.Sprintf("NodeClaim %s was made for pool %s, %s after the pool's deletion", m.Event.Object.Name, p.name, late.Round(time.Second)), m.Event.Object)
	}
	for len(p.made) > 0 && m.Time.Sub(p.made[0]) > runawayWindow {
		p.made = p.made[1:]
	}
	if len(p.made) == 0 {
		p.pods, p.base = pods, p.claims
	}
	p.claims, p.pods = p.claims+1, max(p.pods, pods)
	p.made = append(p.made, m.Time)
	if allowed := runawayFloor + 2*(p.pods+p.base+p.replicas); len(p.made) > allowed {
		m.Suspect(fmt.Sprintf("pool %s got %d NodeClaims within %s although nothing changed; %d would be plenty",
			p.name, len(p.made), m.Time.Sub(p.made[0]).Round(time.Second), allowed), m.Event.Object)
	}
}

// judgeDrift judges a change of Drifted.
func (p *restless) judgeDrift(m *check.Moment) {
	claim := m.Event.Object
	is, was := karpenter.IsTrue(claim.Unstructured(), karpenter.Drifted), karpenter.IsTrue(m.Before.Unstructured(), karpenter.Drifted)
	switch {
	case was && !is && !overwritten(m):
		if p.drifted == nil {
			p.drifted = map[string]bool{}
		}
		p.drifted[claim.UID] = true
	case is && !was:
		m.Tested()
		if p.drifted[claim.UID] {
			m.Suspect(fmt.Sprintf("Drifted of NodeClaim %s came, went and came again although neither pool %s nor its NodeClass changed", claim.Name, p.name), claim)
		}
		if late := moment(claim.Unstructured(), "metadata", "creationTimestamp").Sub(p.input); !p.input.IsZero() && late > underway {
			m.Suspect(fmt.Sprintf("NodeClaim %s has drifted, and was made %s after the last change of its pool and its NodeClass: nothing has changed since then", claim.Name, late.Round(time.Second)), claim)
		}
	}
}

// overwritten says whether Drifted may have gone because another controller, which
// hadn't seen it yet, wrote all conditions at once to change one of its own, such as
// Initialized or DisruptionReason (Karpenter: pkg/controllers/nodeclaim/lifecycle,
// pkg/controllers/disruption/queue.go; seen from v1.9.0 to v1.15.0). It is back at once.
// The controller that takes Drifted away changes none of the others' conditions.
func overwritten(m *check.Moment) bool {
	for _, c := range karpenter.Conditions(m.Event.Object.Unstructured()) {
		switch c.Type {
		case karpenter.Drifted, karpenter.Consolidatable, karpenter.Ready:
			continue
		}
		was, _ := karpenter.Condition(m.Before.Unstructured(), c.Type)
		if was.Status != c.Status || !was.LastTransitionTime.Equal(&c.LastTransitionTime) { // or said it again, not having seen its own word
			return true
		}
	}
	return false
}
