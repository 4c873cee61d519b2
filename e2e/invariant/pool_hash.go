package invariant

import (
	"maps"
	"time"

	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/e2e/history"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
)

// hash is a hash of a pool's template, and the version of its algorithm.
type hash struct{ value, version string }

func hashOf(o *history.Object) hash {
	u := o.Unstructured()
	return hash{
		textAt(u, "metadata", "annotations", karpenter.NodePoolHashAnnotation),
		textAt(u, "metadata", "annotations", karpenter.NodePoolHashVersionAnnotation),
	}
}

// poolHash is what is known of a pool's hash.
type poolHash struct {
	pool    *history.Object // as it is now
	now     hash
	since   time.Time          // when the hash came to be as it is now
	until   map[hash]time.Time // when the pool gave up its earlier hashes
	changed int                // how often the template did since the hash did
	unseen  bool               // there was a template whose hash nobody has seen

	template template  // as it is now
	hashed   template  // that which the hash was made of
	from     time.Time // up to it the hash may be that of an older template
	due      time.Time // when the pool must have the hash of its template, if that is another
}

// newPoolHash is for a pool that was made, or first seen. Up to from its hash may be that of an older template.
func newPoolHash(pool *history.Object, from time.Time) *poolHash {
	t := templateOf(pool.Unstructured(), "spec", "template")
	p := &poolHash{
		pool: pool, now: hashOf(pool), since: from, until: map[hash]time.Time{}, template: t, hashed: t, from: from,
	}
	if p.now.value == "" {
		p.changed = 1
	}
	return p
}

// had says whether the pool has a hash, or had it since then.
func (p *poolHash) had(h hash, since time.Time) bool {
	until, before := p.until[h]
	return h == p.now || before && !until.Before(since)
}

// observe takes over a change of the pool.
func (p *poolHash) observe(m *check.Moment) {
	p.pool = m.Event.Object
	if changedAt(m, "spec", "template") {
		p.learnTemplate(m.Time)
	}
	if is := hashOf(p.pool); is != p.now {
		p.change(m, is)
	}
	if p.now.value == "" || maps.Equal(p.template, p.hashed) {
		p.due = time.Time{}
	}
}

func (p *poolHash) learnTemplate(now time.Time) {
	is := templateOf(p.pool.Unstructured(), "spec", "template")
	if maps.Equal(is, p.template) {
		return
	}
	p.template, p.due = is, now.Add(hashWithin)
	p.changed++
	p.unseen = p.unseen || p.changed > 1
}

// change judges a new hash.
func (p *poolHash) change(m *check.Moment, is hash) {
	if p.now.value != "" && p.now.version == is.version {
		m.Tested()
		if p.changed == 0 && !p.unseen && m.Time.After(p.from) {
			m.Suspect("the hash of NodePool %s changed from %s to %s, and the part of its template that is hashed did not",
				p.pool, p.now.value, is.value)
		}
	}
	p.until[p.now] = m.Time
	p.now, p.since, p.changed, p.hashed = is, m.Time, 0, p.template
}

// judgeDue judges that the pool has the hash of its template when it must. It says whether nothing is due any more.
func (p *poolHash) judgeDue(m *check.Moment) (done bool) {
	if !p.due.IsZero() && !p.unseen && m.Time.After(p.due) {
		p.due = time.Time{}
		m.Tested()
		m.Suspect("the template of NodePool %s has changed, and %s later its hash is %s still",
			p.pool, hashWithin, p.now.value)
	}
	return p.due.IsZero()
}
