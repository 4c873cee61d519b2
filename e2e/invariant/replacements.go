package invariant

import (
	"bytes"
	"fmt"
	"maps"
	"time"

	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/e2e/history"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
)

// reasonLaunching is that of Karpenter's event about a NodeClaim that is made to
// replace others (Karpenter: pkg/events/reason.go).
const reasonLaunching = "DisruptionLaunching"

// replacedFirst is that a replacement is initialized before the deletion begins of
// what it replaces, in drift, consolidation and voluntary repair; expiration and
// forceful repair don't wait. It is what makes them graceful: there is somewhere to
// go before anybody has to.
//
// Source: designs/disruption-controls.md, docs on disruption ("pre-spin");
// Karpenter: pkg/controllers/disruption/queue.go, waitOrTerminate.
//
// No object says what a NodeClaim replaces. Karpenter's events say that it replaces
// something (DisruptionLaunching), and that a NodeClaim was deleted to be replaced
// (DisruptionTerminating). It replaces nodes that were tainted before it was made, so
// it is broken when all that it may replace are being deleted and it isn't
// initialized, or isn't even made; with several disruptions under way, that is later
// than the first. Not judged are disruptions of which one was given up, or whose
// NodeClaim expired meanwhile or was being deleted before, those whose replacement is
// being deleted too, as when somebody deletes the pool, and those whose events the
// recording lacks. That a NodeClaim had to be replaced at all is certain only where its
// pods had nowhere else to go.
func replacedFirst() Invariant {
	const name = "replacements are initialized before what they replace is deleted"
	return Invariant{
		Name:   name,
		Source: "Karpenter: designs/disruption-controls.md, pkg/controllers/disruption/queue.go",
		Check: func(Params) check.Check {
			return check.Follow(name, "nothing was replaced", func() func(*check.Moment) {
				r := &replacements{fleet: newFleet(), olds: map[string]*old{}, news: map[string]*replacement{}, inTime: map[string]bool{}}
				return r.follow
			}, karpenter.Nodes, karpenter.NodeClaims, karpenter.NodePools, karpenter.Pods, karpenter.PodDisruptionBudgets, karpenter.Events)
		},
	}
}

type replacements struct {
	fleet
	olds   map[string]*old         // NodeClaims under disruption, by name
	news   map[string]*replacement // NodeClaims made while there were any, by name
	inTime map[string]bool         // those of them that were initialized in time
	last   string                  // the one of olds whose deletion began last
}

// old is a NodeClaim that is being replaced.
type old struct {
	deleted    bool // its deletion has begun
	terminated bool // and Karpenter has said that it was to disrupt it
	void       bool // the disruption was given up, or isn't what it is deleted for

	since    time.Time       // when the disruption began
	stranded *history.Object // a pod for which there had to be a replacement, and was none
}

// replacement is a NodeClaim that may replace others.
type replacement struct {
	mayReplace map[string]*old
	announced  bool   // Karpenter has said that it replaces something
	early      string // the NodeClaim whose deletion began too early; empty if none
}

func (r *replacements) follow(m *check.Moment) {
	r.see(m)
	switch {
	case m.End:
	case m.Event == nil:
		for _, claim := range m.World.List(karpenter.NodeClaims) {
			r.leaving(claim, r.nodeOf(claim))
		}
	case m.Event.Resource == karpenter.Events:
		r.event(m)
	case m.Event.Resource == karpenter.Nodes:
		if node, claim := r.pair(m.Event); node != nil && claim != nil {
			r.disruption(m.Time, claim, node)
		}
	case m.Event.Resource == karpenter.NodeClaims:
		r.claim(m, m.Event.Object)
	}
}

// disruption notes that a NodeClaim comes to be disrupted, or no longer is.
func (r *replacements) disruption(now time.Time, claim, node *history.Object) {
	o, is := r.olds[claim.Name], disrupted(node, claim)
	switch {
	case o == nil && is:
		r.olds[claim.Name] = &old{since: now}
	case o != nil && !is && !o.deleted && !deleting(claim) && !deleting(node):
		o.void = true
		delete(r.olds, claim.Name)
	default:
		r.leaving(claim, node)
	}
}

// leaving notes a NodeClaim that was on its way out when nothing had been seen of its
// disruption: whether it is being replaced can't be known.
func (r *replacements) leaving(claim, node *history.Object) {
	if r.olds[claim.Name] == nil && (deleting(claim) || deleting(node) || tainted(node)) {
		r.olds[claim.Name] = &old{deleted: true, void: true}
	}
}

func (r *replacements) claim(m *check.Moment, claim *history.Object) {
	if gone(m) {
		delete(r.olds, claim.Name)
		return
	}
	if n := r.news[claim.Name]; n != nil && n.early == "" && reached(claim, karpenter.Initialized) {
		delete(r.news, claim.Name)
		r.inTime[claim.Name] = true
		if n.announced {
			m.Tested()
		}
	}
	if m.Before == nil {
		r.made(claim)
	}
	if o := r.olds[claim.Name]; o != nil && !o.deleted && deleting(claim) {
		o.deleted = true
		o.void = o.void || expired(claim, m.Time)
		o.stranded = stranded(m.World, claim, o.since)
		r.last = claim.Name
		r.tooEarly(claim.Name)
		return
	}
	if node := r.nodeOf(claim); node != nil {
		r.disruption(m.Time, claim, node)
	}
}

// made notes a NodeClaim and what it may replace: what is disrupted and there to stay
// until then, or else what should be.
func (r *replacements) made(claim *history.Object) {
	if len(r.olds) == 0 {
		return
	}
	n := &replacement{mayReplace: maps.Clone(r.olds)}
	if n.late() {
		if n.mayReplace[r.last] != nil {
			n.early = r.last
		}
	} else {
		maps.DeleteFunc(n.mayReplace, func(_ string, o *old) bool { return o.deleted })
	}
	r.news[claim.Name] = n
}

// tooEarly notes which replacements should have been initialized by now, since
// with this deletion all that they may replace are being deleted.
func (r *replacements) tooEarly(deleted string) {
	for _, n := range r.news {
		if n.early == "" && n.mayReplace[deleted] != nil && n.late() {
			n.early = deleted
		}
	}
}

// late says that all that it may replace are being deleted.
func (n *replacement) late() bool {
	for _, o := range n.mayReplace {
		if !o.deleted {
			return false
		}
	}
	return true
}

// event learns what Karpenter says, and judges once it has said enough.
func (r *replacements) event(m *check.Moment) {
	raw := m.Event.Object.Raw()
	if !bytes.Contains(raw, []byte(reasonLaunching)) && !bytes.Contains(raw, []byte(karpenter.ReasonDisruptionTerminating)) {
		return // most aren't worth decoding
	}
	event := m.Event.Object.Unstructured()
	about := karpenter.EventInvolved(event)
	if about.Kind != "NodeClaim" || karpenter.EventComponent(event) != karpenter.EventSource {
		return
	}
	switch n, o := r.news[about.Name], r.olds[about.Name]; {
	case karpenter.EventReason(event) == reasonLaunching && r.inTime[about.Name]:
		m.Tested()
		return
	case karpenter.EventReason(event) == reasonLaunching && n != nil:
		n.announced = true
	case karpenter.EventReason(event) == karpenter.ReasonDisruptionTerminating && o != nil:
		o.terminated = true
		if o.stranded != nil && !o.void {
			m.Suspect(fmt.Sprintf("the deletion of NodeClaim %s began when there was no replacement, and no other node for pod %s/%s",
				about.Name, o.stranded.Namespace, o.stranded.Name), m.World.Get(karpenter.NodeClaims, "", about.Name), o.stranded)
		}
	default:
		return
	}
	for name, n := range r.news {
		if n.proven() && !deleting(m.World.Get(karpenter.NodeClaims, "", name)) {
			m.Suspect(fmt.Sprintf("the deletion of NodeClaim %s began when its replacement %s was not initialized", n.early, name),
				m.World.Get(karpenter.NodeClaims, "", n.early), m.World.Get(karpenter.NodeClaims, "", name))
		}
	}
}

// proven says that what it replaces was certainly deleted too early: Karpenter has
// said of both that they are what they seem to be, and nothing explains it.
func (n *replacement) proven() bool {
	if n.early == "" || !n.announced {
		return false
	}
	for _, o := range n.mayReplace {
		if o.void || !o.terminated {
			return false
		}
	}
	return true
}

// expired says that a NodeClaim is as old as it may become (NodeClaim
// spec.expireAfter).
func expired(claim *history.Object, now time.Time) bool {
	after, err := time.ParseDuration(text(claim.Unstructured(), "spec", "expireAfter"))
	return err == nil && !now.Before(moment(claim.Unstructured(), "metadata", "creationTimestamp").Add(after))
}
