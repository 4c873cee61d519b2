package invariant

import (
	"strings"
	"time"

	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/e2e/history"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
)

// matchBound is how long a node without a NodeClaim and a NodeClaim without a node may stand
// side by side. The provider writes both provider IDs at the launch.
const matchBound = time.Minute

// joinsByID checks that a node joins with the provider ID of its NodeClaim, character by
// character. Otherwise Karpenter never registers the node: it ends the instance after 15
// minutes and launches the next one.
//
// A launched NodeClaim that has no node, beside a Karpenter node that no NodeClaim has the
// provider ID of, breaks it after matchBound; at once, if the IDs differ only by letter case. The
// node must not be older than the NodeClaim. So an instance without a NodeClaim (leaked, given
// up, or of a lost answer) breaks nothing alone, nor does a NodeClaim whose instance never joins.
func joinsByID() Invariant {
	return Invariant{
		Name: "nodes join with the provider IDs of their NodeClaims",
		Source: "Node spec.providerID, NodeClaim status.providerID; Karpenter: pkg/utils/nodeclaim, NodeForNodeClaim; " +
			"pkg/controllers/nodeclaim/lifecycle/registration.go",
		Untested: "no node joined with the provider ID of a NodeClaim",
		Reads:    resources{karpenter.Nodes, karpenter.NodeClaims},
		New: func(Params) check.Monitor {
			return &joinMonitor{newNodeIndex(), newTimers(), map[string]couple{}}
		},
	}
}

type joinMonitor struct {
	nodeIndex
	timers
	couples map[string]couple // by the UIDs of both, which also name their timer
}

// couple is a node without a NodeClaim and a NodeClaim without a node. They may belong together.
type couple struct{ node, nodeClaim *history.Object }

func (j *joinMonitor) Observe(m *check.Moment) {
	j.observe(m)
	for _, node := range m.Seen(karpenter.Nodes) {
		j.node(m, node)
	}
	for _, nodeClaim := range m.Seen(karpenter.NodeClaims) {
		j.nodeClaim(m, nodeClaim)
	}
	for _, key := range j.expired(m.Time) {
		if c := j.couples[key]; j.stands(m.World, c) {
			m.Suspect("node %s joined as %q, which is no NodeClaim's provider ID, and NodeClaim %s has waited for %q, for "+
				"longer than %s", c.node, idOf(c.node), c.nodeClaim, idOf(c.nodeClaim), matchBound)
		}
	}
}

func (j *joinMonitor) node(m *check.Moment, node *history.Object) {
	switch {
	case m.Event != nil && m.Before == nil && j.nodeClaimOf(node) != nil:
		m.Tested()
	case j.isAlone(node):
		for _, nodeClaim := range m.World.List(karpenter.NodeClaims) {
			j.compare(m, couple{node, nodeClaim})
		}
	}
}

func (j *joinMonitor) nodeClaim(m *check.Moment, nodeClaim *history.Object) {
	switch {
	case m.Event != nil && j.nodeOf(nodeClaim) != nil && (m.Before == nil || idOf(m.Before) == ""): // it is launched
		m.Tested()
	case j.waits(nodeClaim):
		for _, node := range m.World.List(karpenter.Nodes) {
			j.compare(m, couple{node, nodeClaim})
		}
	}
}

// compare notes from when on a node and a NodeClaim stand alone.
func (j *joinMonitor) compare(m *check.Moment, c couple) {
	key := c.nodeClaim.UID + " " + c.node.UID
	if _, known := j.couples[key]; known || !j.isAlone(c.node) || !j.waits(c.nodeClaim) || isOlder(c.node, c.nodeClaim) {
		return
	}
	m.Tested()
	if idOf(c.node) != "" && strings.EqualFold(idOf(c.node), idOf(c.nodeClaim)) {
		m.Broken("node %s joined as %q, and NodeClaim %s is %q: the provider IDs differ by letter case only, and "+
			"Karpenter compares them exactly", c.node, idOf(c.node), c.nodeClaim, idOf(c.nodeClaim))
	}
	j.couples[key] = c
	j.set(key, m.Time.Add(matchBound))
}

// stands reports whether both still exist and are alone.
func (j *joinMonitor) stands(w *history.World, c couple) bool {
	node, nodeClaim := w.Get(karpenter.Nodes, "", c.node.Name), w.Get(karpenter.NodeClaims, "", c.nodeClaim.Name)
	return node != nil && node.UID == c.node.UID && j.isAlone(node) &&
		nodeClaim != nil && nodeClaim.UID == c.nodeClaim.UID && j.waits(nodeClaim)
}

// isAlone reports whether a node is Karpenter's and no NodeClaim has its provider ID.
func (j *joinMonitor) isAlone(node *history.Object) bool {
	return (isUnregistered(node) || karpenter.NodePoolOf(node.Unstructured()) != "") && !isDeleting(node) &&
		j.nodeClaimOf(node) == nil
}

// waits reports whether a NodeClaim has an instance and no node yet.
func (j *joinMonitor) waits(nodeClaim *history.Object) bool {
	return idOf(nodeClaim) != "" && !isTrue(nodeClaim, karpenter.Registered) && !isDeleting(nodeClaim) &&
		j.nodeOf(nodeClaim) == nil
}

// isOlder reports whether a node was created before a NodeClaim.
func isOlder(node, nodeClaim *history.Object) bool {
	created := func(o *history.Object) time.Time { return timeAt(o.Unstructured(), "metadata", "creationTimestamp") }
	return created(node).Before(created(nodeClaim))
}

// idOf returns the provider ID of a node or NodeClaim.
func idOf(o *history.Object) string {
	if id := karpenter.NodeProviderID(o.Unstructured()); id != "" {
		return id
	}
	return karpenter.NodeClaimProviderID(o.Unstructured())
}
