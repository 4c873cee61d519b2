package invariant

import (
	"slices"
	"time"

	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/e2e/history"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
)

// hashWithin is how long after a NodeClaim its pool may get the same hash, because another
// controller writes it (Karpenter: pkg/controllers/nodepool/hash).
const hashWithin = 10 * time.Second

// keepsSpecAndHash checks that a NodeClaim stays as made, and that its annotations show
// whether its pool has changed:
//
//   - Its spec never changes.
//   - Its hash changes only together with the version of the hash.
//   - It is made with a hash and version that its pool has, had until recently (templateAge),
//     or has ten seconds later.
//   - It does not drift with the reason NodePoolDrifted while its hash is its pool's.
//   - The hash of a pool changes within ten seconds of its template (without requirements),
//     and only then.
//
// The ten seconds begin anew when another controller takes over from one that was killed.
//
// A pool that changes twice before it gets a new hash has had a hash that no recording shows.
// NodeClaims that are made from then on are not judged by it. Pools without a hash are not
// judged: another controller may own them.
func keepsSpecAndHash() Invariant {
	return Invariant{
		Name: "NodeClaims keep their spec, and carry the hash of their NodePool",
		Source: "NodeClaim spec (immutable), annotations karpenter.sh/nodepool-hash and -version; " +
			"designs/drift.md, drift-hash-versioning.md; Karpenter: pkg/apis/v1/nodeclaim.go; " +
			"pkg/apis/v1/nodepool.go, Hash; pkg/controllers/nodeclaim/disruption/drift.go",
		Untested: "no NodeClaim was made or changed, nor the hash of a NodePool",
		Reads:    resources{karpenter.NodeClaims, karpenter.NodePools, karpenter.Events},
		New:      func(Params) check.Monitor { return &hashMonitor{pools: map[string]*poolHash{}} },
	}
}

type hashMonitor struct {
	templateAge
	absence
	pools   map[string]*poolHash
	behind  []*poolHash     // pools that may need another hash
	waiting []madeNodeClaim // those whose hash their pool has not had yet
}

func (h *hashMonitor) Observe(m *check.Moment) {
	// Judge by the state before this moment.
	h.behind = slices.DeleteFunc(h.behind, func(p *poolHash) bool { return p.judgeDue(m, &h.absence) })
	h.waiting = slices.DeleteFunc(h.waiting, func(w madeNodeClaim) bool { return h.judgeHash(m, w) })
	h.absence.observe(m)
	for _, pool := range m.Seen(karpenter.NodePools) {
		h.learn(pool)
		if m.Event == nil {
			h.pools[pool.Name] = newPoolHash(pool, m.Time.Add(hashWithin))
		}
	}
	switch {
	case m.Resource() == karpenter.Events:
	case m.Resource() == karpenter.NodePools:
		h.pool(m, m.Event.Object)
	case m.Event == nil || m.Deleted():
	case m.Before == nil:
		h.nodeClaimCreated(m, m.Event.Object)
	default:
		h.judgeChange(m, m.Event.Object)
	}
}

func (h *hashMonitor) pool(m *check.Moment, pool *history.Object) {
	switch p := h.pools[pool.Name]; {
	case m.Deleted() || isDeleting(pool): // its name may be reused, and its NodeClaims may come late
		if p != nil {
			p.outdated = time.Time{}
		}
	case p == nil || m.Before == nil:
		h.pools[pool.Name] = newPoolHash(pool, m.Time)
	default:
		p.observe(m)
		if !p.outdated.IsZero() && !slices.Contains(h.behind, p) {
			h.behind = append(h.behind, p)
		}
	}
}

func (h *hashMonitor) nodeClaimCreated(m *check.Moment, nodeClaim *history.Object) {
	if karpenter.NodePoolOf(nodeClaim.Unstructured()) == "" {
		return
	}
	m.Tested()
	if is := hashOf(nodeClaim); is.value == "" || is.version == "" {
		m.Broken("NodeClaim %s was made without the hash of its pool, or without its version", nodeClaim)
	}
	h.waiting = append(h.waiting, madeNodeClaim{nodeClaim, m.Time})
}

// judgeHash judges a new NodeClaim's hash. It is done if the pool has or had it, or time is
// up.
func (h *hashMonitor) judgeHash(m *check.Moment, w madeNodeClaim) (done bool) {
	p, is := h.pools[karpenter.NodePoolOf(w.Unstructured())], hashOf(w.Object)
	switch {
	case p == nil || p.unseen || p.hadHash(is, w.at.Add(-h.longest())):
	case !m.Time.After(h.due(w.at, hashWithin)):
		return false
	case p.until[is].IsZero():
		m.Suspect("NodeClaim %s has the hash %s (version %s), which its pool never had; %s later the pool has %s (version "+
			"%s)", w.Object, is.value, is.version, hashWithin, p.now.value, p.now.version)
	default:
		m.Suspect("NodeClaim %s was made with the hash %s, which its pool had given up %s before, for %s",
			w.Object, is.value, w.at.Sub(p.until[is]).Round(time.Millisecond), p.now.value)
	}
	return true
}

func (h *hashMonitor) judgeChange(m *check.Moment, nodeClaim *history.Object) {
	m.Tested()
	was, is := hashOf(m.Before), hashOf(nodeClaim)
	switch {
	case changedAt(m, "spec"):
		m.Broken("the spec of NodeClaim %s changed, which can't change what was launched by it", nodeClaim)
	case was.value != is.value && was.value != "" && was.version == is.version:
		m.Broken("the hash of NodeClaim %s changed from %s to %s, its version did not", nodeClaim, was.value, is.value)
	case becomesTrue(m, karpenter.Drifted):
		c, _ := karpenter.Condition(nodeClaim.Unstructured(), karpenter.Drifted)
		p := h.pools[karpenter.NodePoolOf(nodeClaim.Unstructured())]
		if p != nil && c.Reason == nodePoolDrifted && p.now == is && p.changed == 0 && m.Time.Sub(p.since) > stale {
			m.Suspect("NodeClaim %s has drifted from its pool, although both have the hash %s (version %s)",
				nodeClaim, is.value, is.version)
		}
	}
}
