package invariant

import (
	"maps"
	"time"

	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/e2e/history"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
)

// hash is the hash of a pool's template, and the version of its algorithm.
type hash struct{ value, version string }

func hashOf(o *history.Object) hash {
	u := o.Unstructured()
	return hash{
		textAt(u, "metadata", "annotations", karpenter.NodePoolHashAnnotation),
		textAt(u, "metadata", "annotations", karpenter.NodePoolHashVersionAnnotation),
	}
}

// poolHash holds what is known of a pool's hash.
type poolHash struct {
	pool    *history.Object // the current one
	now     hash
	since   time.Time          // when the pool got its current hash
	until   map[hash]time.Time // when the pool gave up its earlier hashes
	changed int                // how often the template changed since the hash did
	unseen  bool               // there was a template whose hash was not seen

	template template  // the current one
	hashed   template  // the one that was hashed
	from     time.Time // until then the hash may be of an older template
	outdated time.Time // since when the hash is not of the template; zero: it is
}

// newPoolHash follows a new or first seen pool. Until from, its hash may be of an older
// template.
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

// hadHash reports whether the pool has a hash, or had it since then.
func (p *poolHash) hadHash(h hash, since time.Time) bool {
	until, before := p.until[h]
	return h == p.now || before && !until.Before(since)
}

func (p *poolHash) observe(m *check.Moment) {
	p.pool = m.Event.Object
	if changedAt(m, "spec", "template") {
		p.learnTemplate(m.Time)
	}
	if is := hashOf(p.pool); is != p.now {
		p.change(m, is)
	}
	if p.now.value == "" || maps.Equal(p.template, p.hashed) {
		p.outdated = time.Time{}
	}
}

func (p *poolHash) learnTemplate(now time.Time) {
	is := templateOf(p.pool.Unstructured(), "spec", "template")
	if maps.Equal(is, p.template) {
		return
	}
	p.template, p.outdated = is, now
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

// judgeDue judges whether a due hash has come. It is done if nothing is due any more.
func (p *poolHash) judgeDue(m *check.Moment, t *absence) (done bool) {
	if !p.outdated.IsZero() && !p.unseen && m.Time.After(t.due(p.outdated, hashWithin)) {
		p.outdated = time.Time{}
		m.Tested()
		m.Suspect("the template of NodePool %s has changed, and %s later its hash is %s still",
			p.pool, hashWithin, p.now.value)
	}
	return p.outdated.IsZero()
}
