package invariant

import (
	"fmt"
	"maps"
	"time"

	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/e2e/history"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
)

// fromTemplate is that a NodeClaim is made from the template of its NodePool: it has
// the template's taints, startup taints, expireAfter, terminationGracePeriod and
// nodeClassRef, its labels and its annotations. Else nodes aren't what their users
// said: pods run where a taint should keep them off, and what replaces a drifted node
// has drifted itself.
//
// A NodeClaim may have more labels and annotations than its template. Requirements
// aren't compared, since Karpenter narrows them down to what the pods need; neither is a
// terminationGracePeriod that the template leaves out, for which providers may have
// a default of their own. What the pool said at any one moment between recall before the
// NodeClaim and stale after it counts as its template.
//
// Sources: NodePool spec.template; https://karpenter.sh/docs/concepts/nodepools,
// "spec.template"; Karpenter: pkg/apis/v1/nodepool.go, ToNodeClaim, and
// pkg/controllers/provisioning/scheduling/nodeclaimtemplate.go.
func fromTemplate() Invariant {
	const name = "NodeClaims are made from their NodePool's template"
	return Invariant{
		Name:   name,
		Source: "NodePool spec.template; Karpenter: pkg/controllers/provisioning/scheduling/nodeclaimtemplate.go",
		Check: func(Params) check.Check {
			return check.Follow(name, "no NodeClaim was made for a NodePool that was recorded",
				func() func(*check.Moment) {
					return (&templates{pools: map[string][]edition{}}).see
				}, karpenter.NodeClaims, karpenter.NodePools)
		},
	}
}

// templates is what the pools said, and which NodeClaims don't follow from it yet.
type templates struct {
	recall
	pools   map[string][]edition // by name, in order; the last is how the pool is now
	waiting []made
}

// edition is a pool's template from a time on; zero, if it was so from the start.
type edition struct {
	from time.Time
	template
}

// made is a NodeClaim that was made at this time.
type made struct {
	claim *history.Object
	at    time.Time
}

func (t *templates) see(m *check.Moment) {
	t.judge(m) // by what was so until this moment
	switch {
	case m.End:
	case m.Event == nil:
		for _, pool := range m.World.List(karpenter.NodePools) {
			t.learn(pool, time.Time{})
		}
	case gone(m): // the NodeClaims of a pool may come late
	case m.Event.Resource == karpenter.NodePools:
		if m.Before == nil || changedAt(m, "spec") {
			t.learn(m.Event.Object, m.Time)
		}
	case m.Before == nil || m.Before.UID != m.Event.Object.UID:
		t.waiting = append(t.waiting, made{m.Event.Object, m.Time})
	}
}

func (t *templates) learn(pool *history.Object, from time.Time) {
	t.recall.learn(pool)
	is, known := templateOf(pool.Unstructured(), "spec", "template"), t.pools[pool.Name]
	if len(known) == 0 || !maps.Equal(known[len(known)-1].template, is) {
		t.pools[pool.Name] = append(known, edition{from, is})
	}
}

// judge judges the NodeClaims that follow from a template, and those that had time to.
func (t *templates) judge(m *check.Moment) {
	var still []made
	for _, w := range t.waiting {
		name := karpenter.NodePoolOf(w.claim.Unstructured())
		editions, claim := t.pools[name], templateOf(w.claim.Unstructured())
		switch {
		case follows(claim, editions, w.at.Add(-t.reach())):
			m.Tested()
		case !m.Time.After(w.at.Add(stale)):
			still = append(still, w)
		case len(editions) > 0:
			m.Tested()
			m.Suspect(fmt.Sprintf("NodeClaim %s is not made from the template of NodePool %s: %s",
				w.claim.Name, name, claim.lacks(editions[len(editions)-1].template)), w.claim)
		}
	}
	t.waiting = still
}

// follows says whether a NodeClaim has all of what its pool said at some moment since.
func follows(claim template, editions []edition, since time.Time) bool {
	for i, e := range editions {
		over := i+1 < len(editions) && editions[i+1].from.Before(since)
		if !over && claim.lacks(e.template) == "" {
			return true
		}
	}
	return false
}

// validation is how long Karpenter waits between deciding to consolidate and doing so,
// with the replacement that it decided on (Karpenter: pkg/controllers/disruption/consolidation.go).
const validation = 15 * time.Second

// recall is how old a pool's template may be when a NodeClaim is made from it. It grows
// when any pool consolidates: the replacement may come from every other.
type recall struct{ consolidates bool }

func (r *recall) learn(pool *history.Object) {
	r.consolidates = r.consolidates || text(pool.Unstructured(), "spec", "disruption", "consolidateAfter") != "Never"
}

func (r *recall) reach() time.Duration {
	if r.consolidates {
		return stale + validation
	}
	return stale
}
