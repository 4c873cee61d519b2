package invariant

import (
	"time"

	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/e2e/history"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
)

const (
	// driftWithin is how soon Karpenter notices that the hashes of a NodeClaim and its pool differ, or that they do not
	// any more. Every change of either makes it compare them at once; the rest is a margin for busy machines. It also
	// compares them every five minutes.
	driftWithin = 20 * time.Second
	// nodePoolDrifted is the reason of Drifted if the hashes differ.
	nodePoolDrifted = "NodePoolDrifted"
)

// driftNoticed checks that Karpenter notices a changed pool, and a change that is taken back:
//
//   - A launched NodeClaim whose hash is not its pool's gets the condition Drifted, for any reason. Otherwise it keeps
//     an old template for ever.
//   - A NodeClaim whose hash is its pool's again loses Drifted with the reason NodePoolDrifted. Otherwise a node is
//     replaced for nothing.
//
// Hashes of different versions say nothing. What is being deleted is not judged, nor its NodeClaims. Before Karpenter
// takes drift back, it asks the provider whether there is another reason. The provider may not know while its NodeClass
// isn't ready, and then the pool isn't either.
func driftNoticed() Invariant {
	return Invariant{
		Name: "NodeClaims drift when their hash is no longer their NodePool's, and only as long",
		Source: "condition Drifted of the NodeClaim API; designs/drift.md; " +
			"Karpenter: pkg/controllers/nodeclaim/disruption/controller.go, drift.go (areStaticFieldsDrifted)",
		Untested: "no NodeClaim had another hash than its NodePool",
		OnlyHere: "a cloud that is slow or fails keeps NodeClaims drifted, and no recording shows that",
		Reads:    resources{karpenter.NodeClaims, karpenter.NodePools, karpenter.Events},
		New: func(Params) check.Monitor {
			return &driftMonitor{
				newCalm(driftWithin), map[string]*history.Object{}, map[string]*history.Object{}, map[string]string{},
			}
		},
	}
}

type driftMonitor struct {
	calm
	pools, nodeClaims map[string]*history.Object // by name
	wrong             map[string]string          // what is wrong with NodeClaims, by name
}

func (d *driftMonitor) Observe(m *check.Moment) {
	// Judge by the state before this moment.
	for _, name := range d.overdue(m.Time) {
		nodeClaim := d.nodeClaims[name]
		m.Tested()
		m.Suspect("NodeClaim %s %s, and has been so for %s", nodeClaim, d.wrong[name],
			m.Time.Sub(d.since[name]).Round(time.Second)).Beside(d.poolOf(nodeClaim))
	}
	d.observe(m)
	for _, pool := range m.Seen(karpenter.NodePools) {
		d.pools[pool.Name] = pool
	}
	for _, nodeClaim := range m.Seen(karpenter.NodeClaims) {
		d.nodeClaims[nodeClaim.Name] = nodeClaim
		d.compare(m, nodeClaim)
	}
	switch {
	case m.Resource() == karpenter.NodePools && changesComparison(m):
		if m.Deleted() {
			delete(d.pools, m.Event.Object.Name)
		}
		for _, nodeClaim := range d.nodeClaims {
			if karpenter.NodePoolOf(nodeClaim.Unstructured()) == m.Event.Object.Name {
				d.compare(m, nodeClaim)
			}
		}
	case m.Resource() == karpenter.NodeClaims && m.Deleted():
		d.stop(m.Event.Object.Name)
		delete(d.nodeClaims, m.Event.Object.Name)
		delete(d.wrong, m.Event.Object.Name)
	}
}

// changesComparison reports whether an event of a pool changes what its NodeClaims are compared with.
func changesComparison(m *check.Moment) bool {
	was, is := m.Before, m.Event.Object
	return was == nil || m.Deleted() || hashOf(was) != hashOf(is) || isDeleting(was) != isDeleting(is) ||
		isTrue(was, karpenter.Ready) != isTrue(is, karpenter.Ready)
}

// compare begins to wait for Karpenter if something is wrong now, and ends that if nothing is.
func (d *driftMonitor) compare(m *check.Moment, nodeClaim *history.Object) {
	name, is := nodeClaim.Name, d.wrongWith(nodeClaim)
	switch {
	case is == d.wrong[name]:
	case is != "":
		d.wrong[name] = is
		d.begin(name, m.Time)
	default:
		if m.Resource() == karpenter.NodeClaims && !isDeleting(nodeClaim) {
			m.Tested()
		}
		delete(d.wrong, name)
		d.stop(name)
	}
}

// wrongWith returns what is wrong with Drifted of a NodeClaim; empty if nothing is.
func (d *driftMonitor) wrongWith(nodeClaim *history.Object) string {
	pool := d.poolOf(nodeClaim)
	if pool == nil || isDeleting(pool) || isDeleting(nodeClaim) || !isTrue(nodeClaim, karpenter.Launched) {
		return ""
	}
	has, wants := hashOf(nodeClaim), hashOf(pool)
	if has.value == "" || wants.value == "" || has.version == "" || has.version != wants.version {
		return ""
	}
	drift, _ := karpenter.Condition(nodeClaim.Unstructured(), karpenter.Drifted)
	switch isDrifted := isTrue(nodeClaim, karpenter.Drifted); {
	case has != wants && !isDrifted:
		return "has not drifted, although its hash is not its pool's"
	case has == wants && isDrifted && drift.Reason == nodePoolDrifted && isTrue(pool, karpenter.Ready):
		return "has drifted (" + nodePoolDrifted + "), although its hash is its pool's"
	default:
		return ""
	}
}

func (d *driftMonitor) poolOf(nodeClaim *history.Object) *history.Object {
	return d.pools[karpenter.NodePoolOf(nodeClaim.Unstructured())]
}
