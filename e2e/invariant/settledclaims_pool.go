package invariant

import (
	"fmt"
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
		text(u, "metadata", "annotations", karpenter.NodePoolHashAnnotation),
		text(u, "metadata", "annotations", karpenter.NodePoolHashVersionAnnotation),
	}
}

// hashed is what is known of a pool.
type hashed struct {
	pool    *history.Object // as it is now
	now     hash
	since   time.Time          // of now
	until   map[hash]time.Time // when it gave up those that it had before
	changed int                // how often the template did since then
	unseen  bool               // there was a template whose hash nobody has seen

	template template  // as it is now
	meant    template  // that which now was made of
	from     time.Time // before it the hash may be that of an older template
	due      time.Time // when now must have given way to the template's hash, if it must
}

// newHashed is a pool that was made at a time.
func newHashed(pool *history.Object, at time.Time) *hashed {
	t := templateOf(pool.Unstructured(), "spec", "template")
	p := &hashed{pool: pool, now: hashOf(pool), since: at, until: map[hash]time.Time{}, template: t, meant: t, from: at}
	if p.now.value == "" {
		p.changed = 1
	}
	return p
}

// had says whether the pool has a hash, or had it since then.
func (p *hashed) had(h hash, since time.Time) bool {
	until, before := p.until[h]
	return h == p.now || before && !until.Before(since)
}

// see takes over a change of the pool.
func (p *hashed) see(m *check.Moment) {
	p.pool = m.Event.Object
	if changedAt(m, "spec", "template") {
		p.learn(m.Time)
	}
	if is := hashOf(p.pool); is != p.now {
		p.changes(m, is)
	}
	if p.now.value == "" || !p.due.IsZero() && maps.Equal(p.template, p.meant) {
		p.due = time.Time{}
	}
}

// learn takes over the pool's template.
func (p *hashed) learn(now time.Time) {
	t := templateOf(p.pool.Unstructured(), "spec", "template")
	if maps.Equal(t, p.template) {
		return
	}
	p.template, p.due = t, now.Add(hashWithin)
	p.changed++
	p.unseen = p.unseen || p.changed > 1
}

// changes takes over a new hash.
func (p *hashed) changes(m *check.Moment, is hash) {
	if p.now.value != "" && p.now.version == is.version {
		m.Tested()
		if p.changed == 0 && !p.unseen && m.Time.After(p.from) {
			m.Suspect(fmt.Sprintf("the hash of NodePool %s changed from %s to %s, and the part of its template that is hashed did not",
				p.pool.Name, p.now.value, is.value), p.pool)
		}
	}
	p.until[p.now] = m.Time
	p.now, p.since, p.changed, p.meant = is, m.Time, 0, p.template
}

// overdue judges that the pool has the hash of its template.
func (p *hashed) overdue(m *check.Moment) {
	if p.due.IsZero() || p.unseen || !m.Time.After(p.due) {
		return
	}
	p.due = time.Time{}
	m.Tested()
	m.Suspect(fmt.Sprintf("the template of NodePool %s has changed, and %s later its hash is %s still",
		p.pool.Name, hashWithin, p.now.value), p.pool)
}
