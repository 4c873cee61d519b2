package invariant

import (
	"time"

	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/e2e/history"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
)

const (
	// drainLag is how late a drain may be done with a pod. Karpenter retries an eviction
	// within ten seconds (pkg/controllers/node/termination/terminator/eviction.go).
	drainLag = 15 * time.Second
	// cacheLag is how far a controller's cache may be behind the API server.
	cacheLag = time.Second
)

// drainsInOrder checks that drains have an end and an order:
//
//   - When a NodeClaim's terminationGracePeriod, counted from its deletion, is over, every pod
//     that the drain waits for is being deleted, with an end by then. The annotation of the
//     deadline may bring it forward, but not put it off. After a kill of the controller,
//     another one has to take over first.
//   - Pods are evicted in turns: first those that are neither critical nor of a DaemonSet,
//     then daemons, then critical pods, then critical daemons. No turn begins while a pod of
//     an earlier one is there, unless that pod is due to be deleted by force.
//   - While a pod is on a ready node that the drain waits for, neither Drained nor
//     InstanceTerminating becomes true.
//
// Pods that come during the drain hold up neither a turn nor its end. How long the instance
// takes to end after the drain is up to the provider.
func drainsInOrder() Invariant {
	return Invariant{
		Name: "drains end by their deadline, and evict pods in their order",
		Source: "NodeClaim spec.terminationGracePeriod; designs/nodeclaim-termination-grace-period.md; " +
			"Karpenter: pkg/controllers/node/termination/terminator/terminator.go, Drain, after " +
			"https://kubernetes.io/docs/concepts/cluster-administration/node-shutdown/",
		Untested: "no node with pods was drained up to a deadline, and none had pods of different turns",
		Reads:    resources{karpenter.Pods, karpenter.NodeClaims, karpenter.Nodes, karpenter.Events},
		New: func(Params) check.Monitor {
			return &drainMonitor{lastNodeClaims{}, absence{}, podsOnNodes{}, newTimers(), map[string]time.Time{}}
		},
	}
}

type drainMonitor struct {
	lastNodeClaims
	absence
	pods  podsOnNodes
	over  timers               // nodes, by name: when their pods must be gone
	began map[string]time.Time // when drains began, by the node's name
}

func (d *drainMonitor) Observe(m *check.Moment) {
	for _, node := range d.over.expired(m.Time) {
		d.judgeOverdue(m, node)
	}
	d.lastNodeClaims.observe(m)
	d.absence.observe(m)
	d.pods.observe(m)
	for _, nodeClaim := range m.Seen(karpenter.NodeClaims) {
		d.learnDeadline(m, nodeClaim)
	}
	switch m.Resource() {
	case karpenter.Pods:
		if becomesEvicted(m) {
			d.judgeTurn(m, m.Event.Object)
		}
	case karpenter.Nodes:
		if becomesDeleting(m) {
			d.began[m.Event.Object.Name] = m.Time
		}
	case karpenter.NodeClaims:
		if node := karpenter.NodeClaimNode(m.Event.Object.Unstructured()); m.Deleted() {
			d.over.stop(node)
		} else if began, draining := d.began[node]; draining && m.Before != nil {
			d.judgeEnd(m, m.Event.Object, node, began)
		}
	}
}

// learnDeadline notes the deadline of a NodeClaim's drain, and judges its annotation.
func (d *drainMonitor) learnDeadline(m *check.Moment, o *history.Object) {
	nodeClaim := o.Unstructured()
	node := karpenter.NodeClaimNode(nodeClaim)
	if node == "" {
		return
	}
	annotated, by := annotatedDeadline(nodeClaim), specDeadline(nodeClaim)
	if !by.IsZero() && annotated.After(by.Add(drainLag)) {
		m.Broken("NodeClaim %s puts the end of its drain off to %s by the annotation %s, and its terminationGracePeriod "+
			"ends at %s", o, timeOfDay(annotated), karpenter.TerminationTimestampAnnotation, timeOfDay(by))
	}
	by = drainDeadline(nodeClaim)
	if by.IsZero() || !karpenter.Deleting(nodeClaim) {
		d.over.stop(node)
		return
	}
	if _, known := d.over.due[node]; !known && d.isWaiting(node) {
		m.Tested()
	}
	d.over.set(node, by.Add(drainLag))
}

// isWaiting reports whether the drain of a node waits for any pod.
func (d *drainMonitor) isWaiting(node string) bool {
	for _, pod := range d.pods.podsOf(node) {
		if isDrained(pod.Unstructured()) {
			return true
		}
	}
	return false
}

// judgeOverdue judges a node whose drain must be over.
func (d *drainMonitor) judgeOverdue(m *check.Moment, node string) {
	by := drainDeadline(d.lastNodeClaims[node].Unstructured())
	latest := d.due(by, drainLag)
	if m.Time.Before(latest) { // the controller was killed meanwhile
		d.over.set(node, latest)
		return
	}
	for _, pod := range d.pods.podsOf(node) {
		ends := timeAt(pod.Unstructured(), "metadata", "deletionTimestamp")
		if isDrained(pod.Unstructured()) && pod.since.Before(by) && (ends.IsZero() || ends.After(latest)) {
			m.Suspect("the drain of node %s had to be over at %s; %s later pod %s is there that was not told to end by then",
				node, timeOfDay(by), m.Time.Sub(by).Round(time.Second), pod.Object).Beside(d.lastNodeClaims[node])
		}
	}
}

// judgeEnd judges the end of the drain that began at this time.
func (d *drainMonitor) judgeEnd(m *check.Moment, nodeClaim *history.Object, node string, began time.Time) {
	if !becomesTrue(m, karpenter.Drained) && !becomesTrue(m, karpenter.InstanceTerminating) {
		return
	}
	if is := m.World.Get(karpenter.Nodes, "", node); is == nil || !karpenter.NodeReady(is.Unstructured()) {
		return // its instance is gone already, and its pods with it
	}
	m.Tested()
	for _, pod := range d.pods.podsOf(node) {
		if d.holdsDrain(pod, node, began, m.Time) {
			m.Suspect("node %s counts as drained, or its instance is being ended, and pod %s that should have left is still "+
				"on it", node, pod.Object).Beside(nodeClaim)
		}
	}
}

// judgeTurn judges the eviction of a pod against the other pods on its node.
func (d *drainMonitor) judgeTurn(m *check.Moment, pod *history.Object) {
	node := karpenter.PodNode(pod.Unstructured())
	began, draining := d.began[node]
	if !draining {
		return
	}
	rank := evictionRank(pod.Unstructured())
	tested := rank > 0
	for _, other := range d.pods.podsOf(node) {
		if other.UID == pod.UID || !isDrained(other.Unstructured()) {
			continue
		}
		theirs := evictionRank(other.Unstructured())
		tested = tested || theirs != rank
		if theirs < rank && d.holdsDrain(other, node, began, m.Time) {
			m.Suspect("pod %s (%s) was evicted before %s (%s) was gone, which has to leave earlier",
				pod, rankName(rank), other.Object, rankName(theirs))
		}
	}
	if tested {
		m.Tested()
	}
}

// holdsDrain reports whether a drain has to wait for a pod. The pod was there when the drain
// began, is not due to be deleted by force, and is not a minute past its deletionTimestamp.
func (d *drainMonitor) holdsDrain(pod boundPod, node string, began, now time.Time) bool {
	if !isDrained(pod.Unstructured()) || !pod.since.Before(began.Add(-cacheLag)) {
		return false
	}
	ends := timeAt(pod.Unstructured(), "metadata", "deletionTimestamp")
	if !ends.IsZero() && now.Sub(ends) > time.Minute-stale {
		return false
	}
	nodeClaim := d.lastNodeClaims[node]
	if nodeClaim == nil {
		return true
	}
	from := forceTime(nodeClaim.Unstructured(), pod.Unstructured())
	return from.IsZero() || !now.After(from)
}
