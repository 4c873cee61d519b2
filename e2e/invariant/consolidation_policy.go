package invariant

import (
	"fmt"
	"time"

	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/e2e/history"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
)

// consolidatesByPolicy checks that Karpenter consolidates a node only as its NodePool says:
//
//   - The policy WhenEmpty lets nothing but empty nodes be consolidated.
//   - With consolidateAfter Never, nothing is.
//   - Nodes of static NodePools are not consolidated.
//   - A node is not consolidated before consolidateAfter has passed since a pod was bound to it.
//
// A NodePool that has changed may be known as it was for as long as a decision is validated. Pods
// that are bound before the node is initialized may be overlooked. Pods that end have a time of
// their own, too, but are not judged here.
func consolidatesByPolicy() Invariant {
	return Invariant{
		Name: "nodes are consolidated only as their NodePool's policy says",
		Source: "NodePool spec.disruption.consolidationPolicy and consolidateAfter, spec.replicas; " +
			"Karpenter: pkg/controllers/disruption/consolidation.go and emptiness.go, ShouldDisrupt; " +
			"pkg/controllers/nodeclaim/disruption/consolidation.go",
		Untested: "no node of a known NodePool was consolidated",
		Reads:    resources{karpenter.NodeClaims, karpenter.NodePools, karpenter.Pods},
		New: func(Params) check.Monitor {
			return &policyMonitor{
				pools: map[string]*recent[policy]{}, ready: map[string]bool{}, bound: map[string]arrival{},
			}
		},
	}
}

type policyMonitor struct {
	pools map[string]*recent[policy] // by name
	ready map[string]bool            // whether the NodeClaim of a node is initialized, by the node's name
	bound map[string]arrival         // the last pod that was bound to each node, by the node's name
}

// policy is what a NodePool says of consolidation.
type policy struct {
	policy, after string
	static        bool
}

// arrival is when a pod was bound to a node.
type arrival struct {
	pod *history.Object
	at  time.Time
}

func (p *policyMonitor) Observe(m *check.Moment) {
	for _, pool := range m.Seen(karpenter.NodePools) {
		p.learn(m, pool)
	}
	for _, pod := range m.Seen(karpenter.Pods) {
		p.arrive(m, pod)
	}
	for _, nodeClaim := range m.Seen(karpenter.NodeClaims) {
		if on := karpenter.NodeClaimNode(nodeClaim.Unstructured()); on != "" {
			p.ready[on] = isTrue(nodeClaim, karpenter.Initialized)
		}
	}
	if m.Resource() == karpenter.NodeClaims && !m.Deleted() && becomesTrue(m, karpenter.DisruptionReason) {
		p.judge(m, m.Event.Object)
	}
}

func (p *policyMonitor) learn(m *check.Moment, pool *history.Object) {
	u := pool.Unstructured()
	is := policy{
		policy: textAt(u, "spec", "disruption", "consolidationPolicy"),
		after:  textAt(u, "spec", "disruption", "consolidateAfter"),
	}
	_, is.static = replicasOf(pool)
	known := getOrNew(p.pools, pool.Name)
	if len(*known) == 0 || (*known)[len(*known)-1].value != is {
		known.set(m.Since(), is)
		known.forget(m.Time.Add(-stale - validation))
	}
}

// arrive notes that a pod is bound. Karpenter takes no notice of daemons and static pods.
func (p *policyMonitor) arrive(m *check.Moment, pod *history.Object) {
	u := pod.Unstructured()
	on := karpenter.PodNode(u)
	waited := m.Before != nil && karpenter.PodNode(m.Before.Unstructured()) == ""
	if on != "" && waited && p.ready[on] && mustMove(u) {
		p.bound[on] = arrival{pod, m.Time}
	}
}

// judge judges a consolidation that begins by each state of the NodePool that Karpenter may know.
func (p *policyMonitor) judge(m *check.Moment, nodeClaim *history.Object) {
	u := nodeClaim.Unstructured()
	reason, known := voluntaryReason(u), p.pools[karpenter.NodePoolOf(u)]
	if reason != underutilized && reason != empty || known == nil {
		return
	}
	last := p.bound[karpenter.NodeClaimNode(u)]
	m.Tested()
	forbidden := ""
	for is := range known.since(m.Time.Add(-stale - validation)) {
		if forbidden = is.forbids(reason, m.Time, last.at); forbidden == "" {
			return
		}
	}
	m.Suspect("the node of NodeClaim %s is consolidated (%s), but its NodePool %s %s", nodeClaim, reason,
		karpenter.NodePoolOf(u), forbidden).Beside(last.pod)
}

// forbids describes why a node must not be consolidated now, to which a pod was bound at last; empty if it may.
func (p policy) forbids(reason string, now, bound time.Time) string {
	after, err := time.ParseDuration(p.after)
	since := now.Sub(bound)
	switch {
	case p.static:
		return "is static"
	case p.policy == "WhenEmpty" && reason == underutilized:
		return "has the policy WhenEmpty"
	case p.after == "Never":
		return "has consolidateAfter Never"
	case err == nil && !bound.IsZero() && since > stale && since < after-karpenter.PodEventMerge:
		return fmt.Sprintf("has consolidateAfter %s, and a pod was bound to it %s ago", p.after, since.Round(time.Second))
	default:
		return ""
	}
}
