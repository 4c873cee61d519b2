package invariant

import (
	"fmt"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/api/equality"

	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
)

// hashWithin is how long after a NodeClaim its pool may get the hash that it was
// made with: another controller writes it (Karpenter: pkg/controllers/nodepool/hash).
const hashWithin = 10 * time.Second

// settledClaims says that a NodeClaim is what it was made as, and that it can be
// told from its annotations whether its pool has changed since:
//
//   - its spec never changes;
//   - its hash changes only together with the version of the hash;
//   - it is made with a hash that its pool has, had until a moment ago (recall), or has
//     ten seconds later, and of the same version;
//   - it doesn't drift with the reason NodePoolDrifted while its hash is its
//     pool's;
//   - the hash of a pool changes when its template does, requirements aside, within
//     ten seconds, and only then.
//
// A pool that changes twice before it gets a new hash leaves a hash that nobody
// has seen; NodeClaims made from then on are not held against it. Of pools without a
// hash nothing is asked: they may belong to another controller.
//
// Sources: Karpenter, pkg/apis/v1/nodeclaim.go ("spec is immutable"),
// designs/drift.md, designs/drift-hash-versioning.md,
// pkg/apis/v1/nodepool.go (Hash), pkg/controllers/nodeclaim/disruption/drift.go.
func settledClaims() Invariant {
	const name = "NodeClaims stay what they were made as, and carry their pool's hash"
	return Invariant{
		Name:   name,
		Source: "NodeClaim spec (immutable); annotations karpenter.sh/nodepool-hash and -version; designs/drift-hash-versioning.md",
		Check: func(Params) check.Check {
			return check.Follow(name, "no NodeClaim was made or changed, nor the hash of a NodePool",
				func() func(*check.Moment) {
					return (&hashes{pools: map[string]*hashed{}}).see
				}, karpenter.NodeClaims, karpenter.NodePools)
		},
	}
}

type hashes struct {
	recall
	pools   map[string]*hashed
	behind  []*hashed // pools that may have to get another hash
	waiting []made    // NodeClaims whose hash is not yet known to be their pool's
}

func (s *hashes) see(m *check.Moment) {
	s.overdue(m) // by what was so until this moment
	switch {
	case m.End:
	case m.Event == nil:
		for _, pool := range m.World.List(karpenter.NodePools) {
			s.recall.learn(pool)
			s.pools[pool.Name] = newHashed(pool, m.Time.Add(hashWithin))
		}
	case m.Event.Resource == karpenter.NodePools:
		s.pool(m)
	case m.Before == nil || m.Before.UID != m.Event.Object.UID:
		s.made(m)
	default:
		s.changed(m)
	}
}

func (s *hashes) pool(m *check.Moment) {
	pool := m.Event.Object
	s.recall.learn(pool)
	switch p := s.pools[pool.Name]; {
	case gone(m) || deleting(pool): // its name may come again, and its NodeClaims may come late
		if p != nil {
			p.due = time.Time{}
		}
	case p == nil || m.Before == nil || m.Before.UID != pool.UID:
		s.pools[pool.Name] = newHashed(pool, m.Time)
	default:
		p.see(m)
		if !p.due.IsZero() && !slices.Contains(s.behind, p) {
			s.behind = append(s.behind, p)
		}
	}
}

func (s *hashes) made(m *check.Moment) {
	claim := m.Event.Object
	if gone(m) || karpenter.NodePoolOf(claim.Unstructured()) == "" {
		return
	}
	m.Tested()
	if h := hashOf(claim); h.value == "" || h.version == "" {
		m.Broken(fmt.Sprintf("NodeClaim %s was made without the hash of its pool, or without its version", claim.Name), claim)
	}
	s.waiting = append(s.waiting, made{claim, m.Time})
}

// overdue judges the pools that had time to get another hash, and the NodeClaims whose
// pools had time to get theirs.
func (s *hashes) overdue(m *check.Moment) {
	s.behind = slices.DeleteFunc(s.behind, func(p *hashed) bool {
		p.overdue(m)
		return p.due.IsZero()
	})
	var still []made
	for _, w := range s.waiting {
		p, h := s.pools[karpenter.NodePoolOf(w.claim.Unstructured())], hashOf(w.claim)
		switch {
		case p == nil || p.unseen || p.had(h, w.at.Add(-s.reach())):
		case !m.Time.After(w.at.Add(hashWithin)):
			still = append(still, w)
		case p.until[h].IsZero():
			m.Suspect(fmt.Sprintf("NodeClaim %s has the hash %s (version %s), which its pool never had; %s later that one has %s (version %s)",
				w.claim.Name, h.value, h.version, hashWithin, p.now.value, p.now.version), w.claim)
		default:
			m.Suspect(fmt.Sprintf("NodeClaim %s was made with the hash %s, which its pool had given up %s before, for %s",
				w.claim.Name, h.value, w.at.Sub(p.until[h]).Round(time.Millisecond), p.now.value), w.claim)
		}
	}
	s.waiting = still
}

// changed judges a change of a NodeClaim.
func (s *hashes) changed(m *check.Moment) {
	if gone(m) {
		return
	}
	m.Tested()
	claim := m.Event.Object
	was, is := hashOf(m.Before), hashOf(claim)
	switch {
	case changedAt(m, "spec"):
		m.Broken(fmt.Sprintf("the spec of NodeClaim %s changed, which can't change what was launched by it", claim.Name), claim)
	case was.value != is.value && was.value != "" && was.version == is.version:
		m.Broken(fmt.Sprintf("the hash of NodeClaim %s changed from %s to %s, its version did not", claim.Name, was.value, is.value), claim)
	case becomes(m, karpenter.Drifted):
		c, _ := karpenter.Condition(claim.Unstructured(), karpenter.Drifted)
		p := s.pools[karpenter.NodePoolOf(claim.Unstructured())]
		if p != nil && c.Reason == "NodePoolDrifted" && p.now == is && p.changed == 0 && m.Time.Sub(p.since) > stale {
			m.Suspect(fmt.Sprintf("NodeClaim %s has drifted from its pool, although both have the hash %s (version %s)", claim.Name, is.value, is.version), claim)
		}
	}
}

// changedAt says whether a field is another than before the event. The API server
// counts the changes of a spec.
func changedAt(m *check.Moment, path ...string) bool {
	was, is := m.Before.Unstructured(), m.Event.Object.Unstructured()
	if g := generation(is); g != 0 && g == generation(was) {
		return false
	}
	return !equality.Semantic.DeepEqual(value(was, path...), value(is, path...))
}
