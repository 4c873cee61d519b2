package invariant

import (
	"maps"
	"slices"
	"time"

	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/e2e/history"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
)

// madeFromTemplate checks that a NodeClaim has what its NodePool's template has: taints,
// startup taints, expireAfter, terminationGracePeriod, nodeClassRef, labels and annotations.
// Otherwise pods run where a taint should keep them off, and the replacement of a drifted node
// has drifted itself.
//
// A NodeClaim may have more labels and annotations. Requirements are not compared, because
// Karpenter narrows them to what the pods need. A terminationGracePeriod that the template
// leaves out is not compared, because providers may have a default. The NodeClaim must match
// one state of the template, from templateAge before its creation to stale after it.
func madeFromTemplate() Invariant {
	return Invariant{
		Name: "NodeClaims are made from their NodePool's template",
		Source: "NodePool spec.template; https://karpenter.sh/docs/concepts/nodepools; Karpenter: pkg/apis/v1/nodepool.go, " +
			"ToNodeClaim; pkg/controllers/provisioning/scheduling/nodeclaimtemplate.go",
		Untested: "no NodeClaim was made for a NodePool that was recorded",
		Reads:    resources{karpenter.NodeClaims, karpenter.NodePools},
		New:      func(Params) check.Monitor { return &templateMonitor{pools: map[string]*recent[template]{}} },
	}
}

type templateMonitor struct {
	templateAge
	pools   map[string]*recent[template] // by name
	waiting []madeNodeClaim              // NodeClaims that match no template yet
}

// madeNodeClaim is a NodeClaim and when it was made.
type madeNodeClaim struct {
	*history.Object
	at time.Time
}

func (t *templateMonitor) Observe(m *check.Moment) {
	// Judge by the state before this moment.
	t.waiting = slices.DeleteFunc(t.waiting, func(w madeNodeClaim) bool { return t.judge(m, w) })
	for _, pool := range m.Seen(karpenter.NodePools) {
		if m.Before == nil || changedAt(m, "spec") {
			t.learn(m, pool)
		}
	}
	if m.Resource() == karpenter.NodeClaims && m.Before == nil && !m.Deleted() {
		t.waiting = append(t.waiting, madeNodeClaim{m.Event.Object, m.Time})
	}
}

func (t *templateMonitor) learn(m *check.Moment, pool *history.Object) {
	t.templateAge.learn(pool)
	is, known := templateOf(pool.Unstructured(), "spec", "template"), getOrNew(t.pools, pool.Name)
	if len(*known) == 0 || !maps.Equal((*known)[len(*known)-1].value, is) {
		known.set(m.Since(), is)
	}
}

// judge judges a NodeClaim. It is done if the NodeClaim matches a template, or time is up.
func (t *templateMonitor) judge(m *check.Moment, w madeNodeClaim) (done bool) {
	name := karpenter.NodePoolOf(w.Unstructured())
	is, last := templateOf(w.Unstructured()), template(nil)
	for meant := range getOrNew(t.pools, name).since(w.at.Add(-t.longest())) {
		if is.missingIn(meant) == "" {
			m.Tested()
			return true
		}
		last = meant
	}
	if !m.Time.After(w.at.Add(stale)) {
		return false
	}
	if last != nil {
		m.Tested()
		m.Suspect("NodeClaim %s is not made from the template of NodePool %s: %s", w.Object, name, is.missingIn(last))
	}
	return true
}

// validation is how long Karpenter waits between the decision to consolidate and the action.
// It keeps the replacement that it decided on (Karpenter:
// pkg/controllers/disruption/consolidation.go).
const validation = 15 * time.Second

// templateAge is how old a pool's template may be when a NodeClaim is made from it. It is
// longer if any pool consolidates, because the replacement may come from every other.
type templateAge struct{ consolidates bool }

func (a *templateAge) learn(pool *history.Object) {
	a.consolidates = a.consolidates || textAt(pool.Unstructured(), "spec", "disruption", "consolidateAfter") != "Never"
}

func (a *templateAge) longest() time.Duration {
	if a.consolidates {
		return stale + validation
	}
	return stale
}
