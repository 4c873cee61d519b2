package invariant

import (
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/e2e/history"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
)

const (
	// hookEffect is how long after a hook NodeClaims may still be deleted for what it did. Karpenter compares
	// NodeClaims with instances every 2 minutes, and gives up what doesn't come back after 15.
	hookEffect = 20 * time.Minute
	// expirySlack is how much earlier than by the recorder's clock a NodeClaim may expire by Karpenter's.
	expirySlack = 2 * time.Second
)

// deletedForAReason checks that the end of a registered NodeClaim has a reason. Otherwise pods lose a node that
// nothing was wrong with, and neither budgets nor pods could hold that up. The end begins when the NodeClaim or its
// node is deleted, whichever comes first. These are the reasons (Karpenter: what calls Delete in pkg/controllers):
//
//   - It was chosen for disruption at some time: its node had the disrupted taint, or it had the condition
//     DisruptionReason (disruption/queue.go).
//   - It has expired (nodeclaim/expiration).
//   - Its NodePool is gone or being deleted (Kubernetes collects what a NodePool owned), or has fewer replicas than
//     NodeClaims (static/deprovisioning). Or its NodeClass is.
//   - Its node is not ready, was ready and then fell ill, or has a condition that Kubernetes' kubelets don't report
//     (node/health, legacyrepair; nodeclaim/garbagecollection, which spares nodes that are ready; nodeclaim/reboot).
//     Providers announce interruptions by conditions too.
//   - A hook of the adapter has changed the cloud, the NodeClass or a node lately, as by an interruption.
//   - A user deleted it, or its node. The harness reports that beforehand, by an Event (ReasonDeleted).
//
// Not judged is what comes after the clean-up or an upgrade has begun; nor NodeClaims that are not registered, which
// are given up for many reasons (nodeclaim/lifecycle: launch.go, liveness.go).
func deletedForAReason() Invariant {
	return Invariant{
		Name: "registered NodeClaims are deleted for a reason",
		Source: "https://karpenter.sh/docs/concepts/disruption; Karpenter: pkg/controllers/disruption/queue.go, " +
			"nodeclaim/expiration, nodeclaim/garbagecollection, nodeclaim/reboot, node/termination, node/health, " +
			"static/deprovisioning",
		Untested: "no registered NodeClaim was deleted",
		OnlyHere: "users delete NodeClaims and nodes, and clouds end instances, which only the harness records",
		New: func(p Params) check.Monitor {
			return &endMonitor{
				nodeIndex: newNodeIndex(), params: p, marked: map[string]bool{}, deleted: map[karpenter.Involved]bool{},
				classes: map[string]bool{}, replicas: map[string]*recent[int64]{},
			}
		},
	}
}

type endMonitor struct {
	nodeIndex
	params   Params
	marked   map[string]bool             // NodeClaims and nodes that were chosen for disruption or fell ill once, by UID
	deleted  map[karpenter.Involved]bool // NodeClaims and nodes that a spec deletes, by kind and name
	classes  map[string]bool             // NodeClasses that were deleted, by name
	replicas map[string]*recent[int64]   // of static NodePools, by name
	hooked   time.Time                   // when a hook was called last
	over     bool                        // the clean-up or an upgrade has begun
}

func (e *endMonitor) Observe(m *check.Moment) {
	e.nodeIndex.observe(m)
	e.learn(m)
	if m.Before == nil || e.over || isDeleting(m.Before) || !m.Deleted() && !isDeleting(m.Event.Object) {
		return
	}
	switch m.Resource() {
	case karpenter.NodeClaims:
		if node := e.nodeOf(m.Before); node != nil && !isDeleting(node) {
			e.judge(m, m.Before, node)
		}
	case karpenter.Nodes:
		if nodeClaim := e.nodeClaimOf(m.Before); nodeClaim != nil && !isDeleting(nodeClaim) {
			e.judge(m, nodeClaim, m.Before)
		}
	}
}

func (e *endMonitor) learn(m *check.Moment) {
	for _, nodeClaim := range m.Seen(karpenter.NodeClaims) {
		if isTrue(nodeClaim, karpenter.DisruptionReason) {
			e.marked[nodeClaim.UID] = true
		}
	}
	for _, node := range m.Seen(karpenter.Nodes) {
		if hasDisruptedTaint(node) || m.Before != nil && isHealthy(m.Before) && !isHealthy(node) {
			e.marked[node.UID] = true
		}
	}
	for _, pool := range m.Seen(karpenter.NodePools) {
		n, static := replicasOf(pool)
		if static && (m.Before == nil || changedAt(m, "spec", "replicas")) {
			getOrNew(e.replicas, pool.Name).set(m.Since(), n)
		}
	}
	for _, event := range m.Seen(karpenter.Events) {
		e.hear(m, event)
	}
	if e.params.isNodeClass(m.Resource()) && (m.Deleted() || isDeleting(m.Event.Object)) {
		e.classes[m.Event.Object.Name] = true
	}
}

// hear notes what the harness says of itself. After an interruption the world has Events from before it at the start.
func (e *endMonitor) hear(m *check.Moment, event *history.Object) {
	switch reason, about := saidBy(event, Harness, "", ReasonHook, ReasonUpgrade, ReasonDeleted); {
	case reason == ReasonHook:
		e.hooked = m.Time
	case reason == ReasonUpgrade, reason == ReasonDeleted && about.Kind == "Namespace":
		e.over = true
	case reason == ReasonDeleted:
		e.deleted[karpenter.Involved{Kind: about.Kind, Name: about.Name}] = true
	}
}

// judge judges the end of a NodeClaim that begins now. Both objects are as they were before.
func (e *endMonitor) judge(m *check.Moment, nodeClaim, node *history.Object) {
	if !isTrue(nodeClaim, karpenter.Registered) {
		return
	}
	m.Tested()
	at := m.Time
	if t := timeAt(m.Event.Object.Unstructured(), "metadata", "deletionTimestamp"); t.After(at) {
		at = t
	}
	switch {
	case e.marked[nodeClaim.UID], e.marked[node.UID], !isHealthy(node):
	case isExpired(nodeClaim, at.Add(expirySlack)):
	case losesPool(m.World, nodeClaim), e.isSurplus(m, nodeClaim):
	case e.classes[textAt(nodeClaim.Unstructured(), "spec", "nodeClassRef", "name")]:
	case !e.hooked.IsZero() && m.Time.Sub(e.hooked) <= hookEffect:
	case e.deleted[karpenter.Involved{Kind: "NodeClaim", Name: nodeClaim.Name}]:
	case e.deleted[karpenter.Involved{Kind: "Node", Name: node.Name}]:
	default:
		m.Suspect("%s %s is deleted for no reason: it was not chosen for disruption, has not expired, its node is healthy, "+
			"its NodePool wants it, and no user or hook did that", m.Event.Object.Unstructured().GetKind(), m.Event.Object).
			Beside(nodeClaim, node)
	}
}

// losesPool reports whether the NodePool of a NodeClaim, or one that owned it, is being deleted or gone. Another
// one may have its name.
func losesPool(w *history.World, nodeClaim *history.Object) bool {
	u := nodeClaim.Unstructured()
	pool := w.Get(karpenter.NodePools, "", karpenter.NodePoolOf(u))
	return goesWithPool(w, nodeClaim) || pool != nil && slices.ContainsFunc(ownersOf(u), func(owner map[string]any) bool {
		return owner["kind"] == "NodePool" && owner["uid"] != pool.UID
	})
}

// isSurplus reports whether a static NodePool had fewer replicas than NodeClaims lately. Those whose deletion began
// lately count: Karpenter may not have known of it.
func (e *endMonitor) isSurplus(m *check.Moment, nodeClaim *history.Object) bool {
	pool, known := karpenter.NodePoolOf(nodeClaim.Unstructured()), m.Time.Add(-stale)
	others := int64(0)
	for _, other := range m.World.List(karpenter.NodeClaims) {
		u := other.Unstructured()
		stays := !isDeleting(other) || timeAt(u, "metadata", "deletionTimestamp").After(known)
		if other.UID != nodeClaim.UID && karpenter.NodePoolOf(u) == pool && stays {
			others++
		}
	}
	for replicas := range getOrNew(e.replicas, pool).since(known) {
		if others >= replicas {
			return true
		}
	}
	return false
}

// isHealthy reports whether a node is ready, and has no condition that a provider may repair it for or end it for.
func isHealthy(node *history.Object) bool {
	ready := false
	for _, c := range karpenter.Conditions(node.Unstructured()) {
		is := c.Status == "True"
		switch corev1.NodeConditionType(c.Type) {
		case corev1.NodeReady:
			ready = is
		case corev1.NodeMemoryPressure, corev1.NodeDiskPressure, corev1.NodePIDPressure, corev1.NodeNetworkUnavailable:
			if is {
				return false
			}
		default:
			return false
		}
	}
	return ready
}
