package invariant

import (
	"maps"
	"slices"
	"time"

	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/e2e/history"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
)

const (
	// countedWithin is how long a static pool may have another number of NodeClaims than replicas although nothing
	// changes. Karpenter counts at once when something does, and every minute (Karpenter:
	// pkg/controllers/static/provisioning, deprovisioning). The rest is a margin for busy machines.
	countedWithin = 90 * time.Second
	// shrinking is how soon after its replicas are lowered a static pool loses NodeClaims. It is short, since a user who
	// deletes a NodeClaim meanwhile can't be told from Karpenter.
	shrinking = time.Second
)

// staticPoolsHold checks that a NodePool with spec.replicas has this number of NodeClaims. Users count on the nodes,
// and pay for each.
//
//   - A pool that is ready and at rest for countedWithin has as many NodeClaims as replicas. It may have fewer, down
//     to its limit of nodes.
//   - A pool at rest whose replicas are lowered keeps one NodeClaim for each replica.
//
// A pool is at rest if all of its NodeClaims are initialized, and none has drifted, is disrupted or is being deleted.
// It isn't if any NodeClaim waits for its launch, of whatever pool: a new leader counts only when it knows all
// instances. A pool whose last launch failed is judged after the next launch. Whether it exceeds its limit is judged
// by poolLimitsHold, and whether its nodes are consolidated by consolidatesByPolicy.
func staticPoolsHold() Invariant {
	return Invariant{
		Name:     "static NodePools have as many NodeClaims as replicas",
		Source:   "spec.replicas of the NodePool API; designs/static-capacity.md; Karpenter: pkg/controllers/static",
		Untested: "no static NodePool was at rest for long, or shrank",
		OnlyHere: "no recording shows whether the gate StaticCapacity is on, nor what users delete",
		Reads:    resources{karpenter.Nodes, karpenter.NodeClaims, karpenter.NodePools, karpenter.Events},
		New: func(Params) check.Monitor {
			return &staticMonitor{
				newCalm(countedWithin), newNodeIndex(), map[string]*staticPool{}, map[string]*history.Object{},
			}
		},
	}
}

type staticMonitor struct {
	calm       // the pools that nothing has changed, by name
	nodes      nodeIndex
	pools      map[string]*staticPool     // by name
	nodeClaims map[string]*history.Object // of all pools, by name
}

// staticPool is a static pool that isn't being deleted.
type staticPool struct {
	*history.Object
	failing bool      // the last NodeClaim that went was never launched
	lowered time.Time // when its replicas were lowered while it was at rest
}

func (s *staticMonitor) Observe(m *check.Moment) {
	// Judge by the state before this moment.
	for _, name := range s.overdue(m.Time) {
		s.judgeCount(m, s.pools[name])
	}
	s.observe(m)
	for _, pool := range m.Seen(karpenter.NodePools) {
		s.pool(m, pool)
	}
	s.nodes.observe(m)
	for _, nodeClaim := range m.Seen(karpenter.NodeClaims) {
		s.nodeClaims[nodeClaim.Name] = nodeClaim
	}
	switch {
	case m.Resource() == karpenter.NodePools && m.Deleted():
		s.forget(m.Event.Object.Name)
	case m.Resource() == karpenter.NodeClaims:
		s.nodeClaim(m, m.Event.Object)
	case m.Resource() == karpenter.Nodes && changesRest(m):
		s.restless(m, m.Event.Object)
	}
}

func (s *staticMonitor) pool(m *check.Moment, pool *history.Object) {
	if _, static := replicasOf(pool); !static || isDeleting(pool) {
		s.forget(pool.Name)
		return
	}
	p := getOrNew(s.pools, pool.Name)
	if m.Before != nil && lowersReplicas(m) && !s.disturbed(m.Time) && s.atRest(pool.Name) {
		m.Tested()
		p.lowered = m.Time
	}
	p.Object = pool
	if m.Before == nil || changedAt(m, "spec") || isTrue(m.Before, karpenter.Ready) != isTrue(pool, karpenter.Ready) {
		s.begin(pool.Name, m.Time)
	}
}

func (s *staticMonitor) forget(pool string) {
	delete(s.pools, pool)
	s.stop(pool)
}

// restless begins to wait anew for the pool of a node or NodeClaim.
func (s *staticMonitor) restless(m *check.Moment, o *history.Object) {
	if name := karpenter.NodePoolOf(o.Unstructured()); s.pools[name] != nil {
		s.begin(name, m.Time)
	}
}

func (s *staticMonitor) nodeClaim(m *check.Moment, nodeClaim *history.Object) {
	if m.Deleted() {
		delete(s.nodeClaims, nodeClaim.Name)
	}
	p := s.pools[karpenter.NodePoolOf(nodeClaim.Unstructured())]
	if p == nil {
		return
	}
	s.restless(m, nodeClaim)
	switch {
	case m.Deleted():
		p.failing = !isTrue(nodeClaim, karpenter.Launched)
	case becomesTrue(m, karpenter.Launched):
		p.failing = false
	}
	if m.Before != nil && !isDeleting(m.Before) && (m.Deleted() || isDeleting(nodeClaim)) {
		s.judgeLoss(m, p)
	}
}

// judgeLoss judges a NodeClaim that goes just after its pool's replicas were lowered.
func (s *staticMonitor) judgeLoss(m *check.Moment, p *staticPool) {
	is, node := m.Before, s.nodes.nodeOf(m.Before)
	if p.lowered.IsZero() || m.Time.Sub(p.lowered) > shrinking || s.disturbed(m.Time) ||
		isTrue(is, karpenter.Drifted) || isExpired(is, m.Time) || isDeleting(node) || underDisruption(node, is) {
		return
	}
	var stay int64
	for _, nodeClaim := range s.ofPool(p.Name) {
		if !isDeleting(nodeClaim) {
			stay++
		}
	}
	if replicas, _ := replicasOf(p.Object); stay < replicas {
		m.Suspect("NodeClaim %s goes when the replicas of NodePool %s are lowered, and leaves %d for %d replicas",
			m.Event.Object, p.Object, stay, replicas)
	}
}

// judgeCount judges a pool that nothing has changed for long enough.
func (s *staticMonitor) judgeCount(m *check.Moment, p *staticPool) {
	if p.failing || !isTrue(p.Object, karpenter.Ready) || !s.atRest(p.Name) {
		return
	}
	m.Tested()
	nodeClaims := s.ofPool(p.Name)
	replicas, _ := replicasOf(p.Object)
	least, has := replicas, int64(len(nodeClaims))
	if limit, limited := quantities(fieldAt(p.Unstructured(), "spec", "limits"))[nodesLimit]; limited {
		least = min(least, limit.Value())
	}
	switch {
	case has > replicas:
		m.Suspect("static NodePool %s has %d NodeClaims for %d replicas, although nothing has changed for %s",
			p.Object, has, replicas, countedWithin).Beside(nodeClaims...)
	case has < least:
		m.Suspect("static NodePool %s has %d NodeClaims, and should have %d, although nothing has changed for %s",
			p.Object, has, least, countedWithin).Beside(nodeClaims...)
	}
}

// atRest reports whether a pool's NodeClaims are initialized and none of them is about to go, and all others launched.
func (s *staticMonitor) atRest(pool string) bool {
	for _, nodeClaim := range s.nodeClaims {
		if !isTrue(nodeClaim, karpenter.Launched) {
			return false
		}
	}
	for _, nodeClaim := range s.ofPool(pool) {
		node := s.nodes.nodeOf(nodeClaim)
		if node == nil || isDeleting(node) || isDeleting(nodeClaim) || underDisruption(node, nodeClaim) ||
			isTrue(nodeClaim, karpenter.Drifted) || !isTrue(nodeClaim, karpenter.Initialized) {
			return false
		}
	}
	return true
}

func (s *staticMonitor) ofPool(pool string) (all []*history.Object) {
	for _, name := range slices.Sorted(maps.Keys(s.nodeClaims)) {
		if nodeClaim := s.nodeClaims[name]; karpenter.NodePoolOf(nodeClaim.Unstructured()) == pool {
			all = append(all, nodeClaim)
		}
	}
	return all
}

// changesRest reports whether an event of a node may end the rest of its pool, or begin it.
func changesRest(m *check.Moment) bool {
	return m.Before == nil || m.Deleted() || isDeleting(m.Event.Object) ||
		hasDisruptedTaint(m.Before) != hasDisruptedTaint(m.Event.Object)
}

// replicasOf returns the replicas of a pool, and whether it is static.
func replicasOf(pool *history.Object) (replicas int64, static bool) {
	replicas, static = fieldAt(pool.Unstructured(), "spec", "replicas").(int64)
	return replicas, static
}

func lowersReplicas(m *check.Moment) bool {
	was, _ := replicasOf(m.Before)
	is, _ := replicasOf(m.Event.Object)
	return is < was
}
