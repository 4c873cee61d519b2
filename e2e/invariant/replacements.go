package invariant

import (
	"maps"
	"slices"
	"time"

	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/e2e/history"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
)

// reasonLaunching is Karpenter's event about a NodeClaim that replaces others
// (pkg/events/reason.go).
const reasonLaunching = "DisruptionLaunching"

// replacedFirst checks that a replacement is initialized before the deletion of what it
// replaces begins, in drift, consolidation and voluntary repair. So pods have somewhere to go.
// Expiration and forceful repair do not wait.
//
// No object records what a NodeClaim replaces. Karpenter's events report that it replaces
// something (DisruptionLaunching), and that a NodeClaim was deleted to be replaced
// (DisruptionTerminating). A NodeClaim can replace only nodes that were tainted before it was
// made. So it is a breach when all of these are being deleted before it is initialized, or
// even made. With several disruptions under way, that is later than the first deletion.
//
// Not judged are disruptions that were given up, or whose NodeClaim expired meanwhile, was already
// being deleted, or is deleted by a user (ReasonDeleted); those whose replacement is being deleted
// too, as when somebody deletes the pool; and those whose events the recording lacks. A NodeClaim
// certainly had to be replaced only if its pods had nowhere else to go (see unreplacedPod).
func replacedFirst() Invariant {
	return Invariant{
		Name:     "replacements are initialized before what they replace is deleted",
		Source:   "designs/disruption-controls.md; Karpenter: pkg/controllers/disruption/queue.go, waitOrTerminate",
		Untested: "nothing was replaced",
		Reads: resources{
			karpenter.Nodes, karpenter.NodeClaims, karpenter.NodePools,
			karpenter.Pods, karpenter.PodDisruptionBudgets, karpenter.Events,
		},
		New: func(Params) check.Monitor {
			return &replacementMonitor{
				nodeIndex: newNodeIndex(), disruptions: map[string]*disruption{},
				replacements: map[string]*replacement{}, inTime: map[string]bool{}, byUsers: map[string]bool{},
			}
		},
	}
}

type replacementMonitor struct {
	nodeIndex
	disruptions  map[string]*disruption  // under way, by the NodeClaim's name
	replacements map[string]*replacement // NodeClaims made during disruptions, by name
	inTime       map[string]bool         // those initialized in time
	byUsers      map[string]bool         // NodeClaims that users delete, by name
	last         string                  // the NodeClaim under disruption whose deletion began last
}

// disruption is the disruption of one NodeClaim.
type disruption struct {
	since      time.Time
	deleted    bool            // the deletion has begun
	terminated bool            // Karpenter has reported the deletion as a disruption
	void       bool            // given up, or not the reason for the deletion
	late       bool            // chosen although the deletion had begun: its replacements are still to come
	unreplaced *history.Object // a pod that had no replacement when the deletion began, but needed one
}

// replacement is a NodeClaim that may replace others.
type replacement struct {
	mayReplace map[string]*disruption
	announced  bool   // Karpenter has reported that it replaces something
	early      string // the NodeClaim whose deletion began too early; empty if none
}

func (r *replacementMonitor) Observe(m *check.Moment) {
	r.observe(m)
	switch m.Resource() {
	case karpenter.Events:
		r.deletedByUser(m)
		r.event(m)
	case karpenter.Nodes:
		if node, nodeClaim := r.pair(m); node != nil && nodeClaim != nil {
			r.disruption(m.Time, nodeClaim, node)
		}
	case karpenter.NodeClaims:
		r.nodeClaim(m, m.Event.Object)
	default:
		for _, nodeClaim := range m.Seen(karpenter.NodeClaims) {
			r.deletionBegun(nodeClaim, r.nodeOf(nodeClaim))
		}
	}
}

// deletedByUser notes that a user is about to delete a NodeClaim, or its node.
func (r *replacementMonitor) deletedByUser(m *check.Moment) {
	reason, about := eventOf(m, Harness, "", ReasonDeleted)
	if reason == "" {
		return
	}
	name := about.Name
	if node := m.World.Get(karpenter.Nodes, "", about.Name); about.Kind == "Node" && node != nil {
		if nodeClaim := r.nodeClaimOf(node); nodeClaim != nil {
			name = nodeClaim.Name
		}
	}
	r.byUsers[name] = true
	if d := r.disruptions[name]; d != nil && !d.deleted {
		d.void = true
	}
}

// disruption notes that the disruption of a NodeClaim begins, or is given up.
func (r *replacementMonitor) disruption(now time.Time, nodeClaim, node *history.Object) {
	d, is := r.disruptions[nodeClaim.Name], underDisruption(node, nodeClaim)
	switch {
	case d == nil && is:
		r.disruptions[nodeClaim.Name] = &disruption{since: now, void: r.byUsers[nodeClaim.Name]}
	case d != nil && !is && !d.deleted && !isDeleting(nodeClaim) && !isDeleting(node):
		d.void = true
		delete(r.disruptions, nodeClaim.Name)
	default:
		r.deletionBegun(nodeClaim, node)
	}
}

// deletionBegun records a NodeClaim whose removal began before its disruption was seen.
// Whether it is replaced is unknown.
func (r *replacementMonitor) deletionBegun(nodeClaim, node *history.Object) {
	if r.disruptions[nodeClaim.Name] == nil && (isDeleting(nodeClaim) || isDeleting(node) || hasDisruptedTaint(node)) {
		r.disruptions[nodeClaim.Name] = &disruption{deleted: true, void: true}
	}
}

func (r *replacementMonitor) nodeClaim(m *check.Moment, nodeClaim *history.Object) {
	if m.Deleted() {
		delete(r.disruptions, nodeClaim.Name)
		return
	}
	if n := r.replacements[nodeClaim.Name]; n != nil && n.early == "" && isTrue(nodeClaim, karpenter.Initialized) {
		delete(r.replacements, nodeClaim.Name)
		r.inTime[nodeClaim.Name] = true
		if n.announced {
			m.Tested()
		}
	}
	if m.Before == nil {
		r.nodeClaimCreated(nodeClaim)
	}
	if d := r.disruptions[nodeClaim.Name]; d != nil && d.deleted && becomesTrue(m, karpenter.DisruptionReason) {
		d.void, d.late = true, true
	}
	if d := r.disruptions[nodeClaim.Name]; d != nil && !d.deleted && isDeleting(nodeClaim) {
		d.deleted = true
		d.void = d.void || isExpired(nodeClaim, m.Time)
		d.unreplaced = unreplacedPod(m.World, nodeClaim, d.since)
		r.last = nodeClaim.Name
		for _, n := range r.replacements {
			if n.early == "" && n.mayReplace[r.last] != nil && n.allDeleting() {
				n.early = r.last
			}
		}
		return
	}
	if node := r.nodeOf(nodeClaim); node != nil {
		r.disruption(m.Time, nodeClaim, node)
	}
}

// nodeClaimCreated records a NodeClaim and what it may replace: disrupted NodeClaims that are
// not being deleted or were chosen too late, or all disrupted ones if all are being deleted.
func (r *replacementMonitor) nodeClaimCreated(nodeClaim *history.Object) {
	if len(r.disruptions) == 0 {
		return
	}
	n := &replacement{mayReplace: maps.Clone(r.disruptions)}
	if n.allDeleting() {
		if n.mayReplace[r.last] != nil {
			n.early = r.last
		}
	} else {
		maps.DeleteFunc(n.mayReplace, func(_ string, d *disruption) bool { return d.deleted && !d.late })
	}
	r.replacements[nodeClaim.Name] = n
}

func (n *replacement) allDeleting() bool {
	for _, d := range n.mayReplace {
		if !d.deleted {
			return false
		}
	}
	return true
}

// event records what Karpenter reports, and judges once that is enough.
func (r *replacementMonitor) event(m *check.Moment) {
	reason, about := eventOf(m, karpenter.EventSource, "NodeClaim", reasonLaunching, karpenter.ReasonDisruptionTerminating)
	switch n, d := r.replacements[about.Name], r.disruptions[about.Name]; {
	case reason == reasonLaunching && r.inTime[about.Name]:
		m.Tested()
		return
	case reason == reasonLaunching && n != nil:
		n.announced = true
	case reason == karpenter.ReasonDisruptionTerminating && d != nil:
		d.terminated = true
		if pod := d.unreplaced; pod != nil && !d.void {
			m.Suspect("the deletion of NodeClaim %s began when there was no replacement, and no other node for pod %s",
				about.Name, pod).Beside(m.World.Get(karpenter.NodeClaims, "", about.Name))
		}
	default:
		return
	}
	for _, name := range slices.Sorted(maps.Keys(r.replacements)) {
		n := r.replacements[name]
		if is := m.World.Get(karpenter.NodeClaims, "", name); n.wasNeededStill() && !isDeleting(is) {
			m.Suspect("the deletion of NodeClaim %s began when its replacement %s was not initialized",
				n.early, name).Beside(m.World.Get(karpenter.NodeClaims, "", n.early), is)
		}
	}
}

// wasNeededStill reports whether a deletion certainly began too early: Karpenter has reported
// both the replacement and the disruptions, and none of them is void.
func (n *replacement) wasNeededStill() bool {
	if n.early == "" || !n.announced {
		return false
	}
	for _, d := range n.mayReplace {
		if d.void || !d.terminated {
			return false
		}
	}
	return true
}

// isExpired reports whether a NodeClaim has reached its spec.expireAfter.
func isExpired(nodeClaim *history.Object, now time.Time) bool {
	expires, ever := karpenter.Expires(nodeClaim.Unstructured())
	return ever && !now.Before(expires)
}
