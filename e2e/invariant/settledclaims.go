package invariant

import (
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/api/equality"

	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/e2e/history"
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
//   - it is made with a hash that its pool has, had, or has ten seconds later, and
//     of the same version;
//   - it doesn't drift with the reason NodePoolDrifted while its hash is its
//     pool's.
//
// A pool that changes twice before it gets a new hash leaves a hash that nobody
// has seen; NodeClaims made from then on are not held against it.
//
// Sources: Karpenter, pkg/apis/v1/nodeclaim.go ("spec is immutable"),
// designs/drift.md, designs/drift-hash-versioning.md,
// pkg/controllers/nodeclaim/disruption/drift.go.
func settledClaims() Invariant {
	const name = "NodeClaims stay what they were made as, and carry their pool's hash"
	return Invariant{
		Name:   name,
		Source: "NodeClaim spec (immutable); annotations karpenter.sh/nodepool-hash and -version; designs/drift-hash-versioning.md",
		Check: func(Params) check.Check {
			return check.Follow(name, "no NodeClaim was made or changed",
				func() func(*check.Moment) {
					return (&hashes{pools: map[string]*hashed{}}).see
				}, karpenter.NodeClaims, karpenter.NodePools)
		},
	}
}

// hash is a hash of a pool's template, and the version of its algorithm.
type hash struct{ value, version string }

func hashOf(o *history.Object) hash {
	u := o.Unstructured()
	return hash{
		text(u, "metadata", "annotations", karpenter.NodePoolHashAnnotation),
		text(u, "metadata", "annotations", karpenter.NodePoolHashVersionAnnotation),
	}
}

// hashed is what is known of a pool.
type hashed struct {
	known   map[hash]bool
	now     hash
	since   time.Time // of now
	changed int       // how often the template did since then
	unseen  bool      // there was a template whose hash nobody has seen
}

type hashes struct {
	pools   map[string]*hashed
	waiting []waiting
}

// waiting is a NodeClaim whose hash its pool hasn't had yet.
type waiting struct {
	claim *history.Object
	until time.Time
}

func (s *hashes) see(m *check.Moment) {
	switch {
	case m.End:
	case m.Event == nil:
		for _, pool := range m.World.List(karpenter.NodePools) {
			s.pools[pool.Name] = &hashed{known: map[hash]bool{hashOf(pool): true}, now: hashOf(pool)}
		}
	case m.Event.Resource == karpenter.NodePools:
		s.pool(m)
	case m.Before == nil || m.Before.UID != m.Event.Object.UID:
		s.made(m)
	default:
		s.changed(m)
	}
	s.overdue(m)
}

func (s *hashes) pool(m *check.Moment) {
	pool := m.Event.Object
	p := s.pools[pool.Name]
	if p == nil || m.Before == nil {
		p = &hashed{known: map[hash]bool{}, changed: 1}
		s.pools[pool.Name] = p
	}
	if gone(m) {
		return // its name may come again, and its NodeClaims may come late
	}
	if m.Before != nil && changedAt(m, "spec", "template") {
		p.changed++
		p.unseen = p.unseen || p.changed > 1
	}
	if h := hashOf(pool); h != p.now {
		p.now, p.since, p.changed = h, m.Time, 0
		p.known[h] = true
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
	s.waiting = append(s.waiting, waiting{claim, m.Time.Add(hashWithin)})
}

// overdue judges the NodeClaims whose pools had time to get the hash.
func (s *hashes) overdue(m *check.Moment) {
	var still []waiting
	for _, w := range s.waiting {
		p := s.pools[karpenter.NodePoolOf(w.claim.Unstructured())]
		switch {
		case p == nil || p.unseen || p.known[hashOf(w.claim)]:
		case m.Time.After(w.until):
			m.Suspect(fmt.Sprintf("NodeClaim %s has the hash %s (version %s), which its pool never had; %s later that one has %s (version %s)",
				w.claim.Name, hashOf(w.claim).value, hashOf(w.claim).version, hashWithin, p.now.value, p.now.version), w.claim)
		default:
			still = append(still, w)
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
