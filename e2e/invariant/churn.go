package invariant

import (
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
)

// evictionsEach bounds the voluntary evictions per pod of a workload, on average, between
// inputs.
const evictionsEach = 2

// comesToRest checks that Karpenter comes to rest without new input. Input is a change of a
// NodePool's spec, any change of a NodeClass, or a hook of the adapter, which may change a node
// or the cloud. The harness reports each hook by an Event (ReasonHook). For evictions, input is also a new maximum of
// an owner's pods, or a pod that goes without an eviction. Without input:
//
//   - Drifted does not come, go and come again on one NodeClaim. What the write of another
//     condition takes away or brings back does not count. A NodeClaim does not drift if it
//     was made over ten seconds after the last input to its pool.
//   - Voluntary disruption evicts the pods of one owner at most twice each, on average.
//   - A pool gets at most 30 NodeClaims in a minute, plus two for each existing pod, replica
//     and NodeClaim, even when launches fail.
//   - A pool that has been gone or being deleted for ten seconds gets no NodeClaims (upstream
//     issue 2840: a static pool did), and neither does one that has not been ready for as long and
//     until a decision to consolidate is carried out. Static pools replace drifted nodes all the same.
//
// A change in the provider's cloud that no hook makes (a new image behind an alias) is input that
// no recording shows. Not judged: whether NodeClaims have a reason, since some reasons are not recorded
// (capacity buffers); and how the rate of failing launches falls over the minutes.
func comesToRest() Invariant {
	return Invariant{
		Name: "Karpenter comes to rest when nothing changes",
		Source: "designs/drift.md; Karpenter: pkg/controllers/provisioning; " +
			"https://github.com/kubernetes-sigs/karpenter/issues/2840",
		Untested: "no NodeClaim was made or has drifted",
		OnlyHere: "what users and clouds change, such as the image behind an alias, is input that no recording shows",
		New: func(p Params) check.Monitor {
			return &churnMonitor{lastNodeClaims{}, p, map[string]*poolChurn{}, 0, map[string]*evictions{}, 0}
		},
	}
}

type churnMonitor struct {
	lastNodeClaims
	params Params
	pools  map[string]*poolChurn
	pods   int
	owners map[string]*evictions // of pods, by UID
	input  int                   // how many inputs for evictions came
}

// evictions counts the evictions of an owner's pods since an input.
type evictions struct{ input, pods, most, count int }

func (c *churnMonitor) Observe(m *check.Moment) {
	c.observe(m)
	switch {
	case m.End:
	case m.Event == nil:
		c.start(m)
	case m.Resource() == karpenter.NodePools:
		c.pool(m)
	case m.Resource() == karpenter.NodeClaims:
		c.nodeClaim(m)
	case m.Resource() == karpenter.Pods:
		c.pod(m, m.Event.Object.Unstructured())
	case c.params.isNodeClass(m.Resource()):
		c.changed(m.Time)
	case m.Resource() == karpenter.Events:
		if reason, _ := eventOf(m, Harness, "", ReasonHook); reason != "" {
			c.changed(m.Time)
		}
	}
}

// changed notes an input that concerns all pools.
func (c *churnMonitor) changed(now time.Time) {
	c.input++
	for _, pool := range c.pools {
		pool.forget(now)
	}
}

func (c *churnMonitor) start(m *check.Moment) {
	for _, pool := range m.Seen(karpenter.NodePools) {
		p := getOrNew(c.pools, pool.Name)
		p.begin(pool.Unstructured(), m.Time)
		p.follow(pool, m.Time)
	}
	for _, nodeClaim := range m.Seen(karpenter.NodeClaims) {
		getOrNew(c.pools, karpenter.NodePoolOf(nodeClaim.Unstructured())).nodeClaims++
	}
	for _, pod := range m.Seen(karpenter.Pods) {
		c.pods++
		c.owner(pod.Unstructured()).add()
	}
}

func (c *churnMonitor) pool(m *check.Moment) {
	pool, p := m.Event.Object, getOrNew(c.pools, m.Event.Object.Name)
	p.follow(pool, m.Time)
	switch {
	case m.Deleted() || isDeleting(pool):
		if p.dying.IsZero() {
			p.dying = m.Time
		}
	case m.Before == nil || changedAt(m, "spec"):
		c.input++
		p.begin(pool.Unstructured(), m.Time)
	}
}

func (c *churnMonitor) nodeClaim(m *check.Moment) {
	name := karpenter.NodePoolOf(m.Event.Object.Unstructured())
	if name == "" {
		return
	}
	switch p := getOrNew(c.pools, name); {
	case m.Deleted():
		p.nodeClaims--
	case m.Before == nil:
		p.judgeMade(m, name, c.pods)
	default:
		p.judgeDrift(m, name)
	}
}

func (c *churnMonitor) pod(m *check.Moment, pod *unstructured.Unstructured) {
	switch {
	case m.Before == nil && !m.Deleted():
		c.pods++
		if c.owner(pod).add() {
			c.input++
		}
	case m.Before != nil && !isDeleting(m.Before) && (m.Deleted() || karpenter.Deleting(pod)):
		c.pods--
		c.owner(pod).pods-- // the owner already makes another one
		if !isEvicted(pod) {
			c.input++
		}
	case becomesEvicted(m) && c.disruptedByChoice(pod):
		m.Tested()
		o := c.owner(pod)
		if o.input != c.input {
			o.input, o.count, o.most = c.input, 0, o.pods
		}
		if o.count++; o.count > evictionsEach*o.most {
			m.Suspect("pod %s was evicted to disrupt its node; that makes %d evictions of its workload, which has %d pods at "+
				"most, although nothing changed", m.Event.Object, o.count, o.most)
		}
	}
}

// disruptedByChoice reports whether the node of a pod is disrupted voluntarily.
func (c *churnMonitor) disruptedByChoice(pod *unstructured.Unstructured) bool {
	nodeClaim := c.lastNodeClaims[karpenter.PodNode(pod)]
	return nodeClaim != nil && voluntaryReason(nodeClaim.Unstructured()) != ""
}

// owner returns the evictions for a pod's owner, or for the pod itself if it has none.
func (c *churnMonitor) owner(pod *unstructured.Unstructured) *evictions {
	id := string(pod.GetUID())
	if owners := ownersOf(pod); len(owners) > 0 {
		id, _ = owners[0]["uid"].(string)
	}
	return getOrNew(c.owners, id)
}

// add counts one more pod, and reports whether that is a new maximum.
func (e *evictions) add() bool {
	e.pods++
	more := e.pods > e.most
	e.most = max(e.most, e.pods)
	return more
}
