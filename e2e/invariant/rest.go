package invariant

import (
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/e2e/history"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
)

// movesEach is how often each pod of a workload may be evicted by choice, on
// average, without new input.
const movesEach = 2

// comesToRest says that without new input Karpenter comes to rest. Input is a change
// of a NodePool's spec and any change of a NodeClass; for evictions also a pod more
// than there was, or one less that was not evicted. Without it
//
//   - Drifted doesn't come, go and come again on one NodeClaim (what is lost when another
//     condition is written is not counted), nor does a NodeClaim drift that was made more than
//     ten seconds after the last input to its pool;
//   - voluntary disruption doesn't evict the pods of one owner more than twice each,
//     on average;
//   - no pool gets more NodeClaims in a minute than 30, and two for each pod, replica
//     and NodeClaim that there was: not even when launches fail;
//   - a pool that is being deleted, or is gone, gets no NodeClaims any more, ten
//     seconds after (upstream issue 2840: a static pool did).
//
// What the provider's cloud does by itself (a new image behind an alias) is input
// that no recording shows. That NodeClaims are made only for a reason isn't judged,
// since not all reasons are recorded (capacity buffers); nor is how the rate of failing
// launches falls from minute to minute.
//
// Sources: Karpenter, designs/drift.md; pkg/controllers/provisioning;
// https://github.com/kubernetes-sigs/karpenter/issues/2840.
func comesToRest() Invariant {
	const name = "Karpenter comes to rest when nothing changes"
	return Invariant{
		Name:   name,
		Source: "designs/drift.md; kubernetes-sigs/karpenter#2840",
		Check: func(p Params) check.Check {
			return check.Follow(name, "no NodeClaim was made or has drifted", func() func(*check.Moment) {
				u := &unrest{pools: map[string]*restless{}, claimOn: map[string]*history.Object{}, owners: map[string]*moved{}}
				return func(m *check.Moment) { u.see(m, p) }
			})
		},
	}
}

// unrest is what goes on in a cluster.
type unrest struct {
	pools   map[string]*restless
	claimOn map[string]*history.Object // NodeClaims by the name of their node
	pods    int
	owners  map[string]*moved // of pods, by UID
	input   int               // how much of it came for evictions
}

// moved is how often the pods of an owner were since an input.
type moved struct{ input, pods, peak, evictions int }

func (u *unrest) see(m *check.Moment, p Params) {
	switch {
	case m.End:
	case m.Event == nil:
		u.start(m.World)
	case m.Event.Resource == karpenter.NodePools:
		u.pool(m)
	case m.Event.Resource == karpenter.NodeClaims:
		u.claim(m)
	case m.Event.Resource == karpenter.Pods:
		u.pod(m)
	case p.isNodeClass(m.Event.Resource):
		u.input++
		for _, pool := range u.pools {
			pool.anew(m.Time)
		}
	}
}

func (u *unrest) start(w *history.World) {
	for _, pool := range w.List(karpenter.NodePools) {
		u.named(pool.Name).begin(pool.Unstructured(), w.Time())
	}
	for _, claim := range w.List(karpenter.NodeClaims) {
		u.named(karpenter.NodePoolOf(claim.Unstructured())).claims++
		u.claimOn[karpenter.ClaimNode(claim.Unstructured())] = claim
	}
	for _, pod := range w.List(karpenter.Pods) {
		u.pods++
		u.owner(pod.Unstructured()).came()
	}
}

// named is a pool, or a name that NodeClaims call their pool.
func (u *unrest) named(name string) *restless {
	p := u.pools[name]
	if p == nil {
		p = &restless{name: name}
		u.pools[name] = p
	}
	return p
}

func (u *unrest) pool(m *check.Moment) {
	pool, p := m.Event.Object, u.named(m.Event.Object.Name)
	switch {
	case gone(m) || karpenter.Deleting(pool.Unstructured()):
		p.dies(m.Time)
	case m.Before == nil || changedAt(m, "spec"):
		u.input++
		p.begin(pool.Unstructured(), m.Time)
	}
}

func (u *unrest) claim(m *check.Moment) {
	claim := m.Event.Object
	name := karpenter.NodePoolOf(claim.Unstructured())
	if name == "" {
		return
	}
	switch p := u.named(name); {
	case gone(m):
		p.claims--
	case m.Before == nil:
		p.judgeMade(m, u.pods)
	default:
		u.claimOn[karpenter.ClaimNode(claim.Unstructured())] = claim
		p.judgeDrift(m)
	}
}

func (u *unrest) pod(m *check.Moment) {
	pod := m.Event.Object.Unstructured()
	switch {
	case m.Before == nil && !gone(m):
		u.pods++
		if u.owner(pod).came() {
			u.input++
		}
	case m.Before != nil && !karpenter.Deleting(m.Before.Unstructured()) && (gone(m) || karpenter.Deleting(pod)):
		u.pods--
		u.owner(pod).pods-- // it makes another one already
		if !evicted(pod) {
			u.input++
		}
	case evictedHere(m) && u.byChoice(pod):
		m.Tested()
		o := u.owner(pod)
		if o.input != u.input {
			o.input, o.evictions, o.peak = u.input, 0, o.pods
		}
		if o.evictions++; o.evictions > movesEach*o.peak {
			m.Suspect(fmt.Sprintf("pod %s/%s was evicted to disrupt its node; that makes %d evictions of its workload, which has %d pods at most, although nothing changed",
				m.Event.Object.Namespace, m.Event.Object.Name, o.evictions, o.peak), m.Event.Object)
		}
	}
}

// byChoice says whether the node of a pod is disrupted voluntarily.
func (u *unrest) byChoice(pod *unstructured.Unstructured) bool {
	claim := u.claimOn[karpenter.PodNode(pod)]
	return claim != nil && voluntaryReason(claim.Unstructured()) != ""
}

// came says whether there are more pods than ever.
func (o *moved) came() bool {
	o.pods++
	more := o.pods > o.peak
	o.peak = max(o.peak, o.pods)
	return more
}

// owner is that of a pod; a pod without one can't come again.
func (u *unrest) owner(pod *unstructured.Unstructured) *moved {
	id := string(pod.GetUID())
	if owners := list(pod, "metadata", "ownerReferences"); len(owners) > 0 {
		id, _ = owners[0]["uid"].(string)
	}
	o := u.owners[id]
	if o == nil {
		o = &moved{}
		u.owners[id] = o
	}
	return o
}

// restless is what happens to a pool, since the last input to it.
type restless struct {
	name    string
	input   time.Time       // zero if none was seen
	dying   time.Time       // since when it is being deleted; zero if it isn't
	drifted map[string]bool // claims that had drifted and no longer have, by UID

	replicas, claims int         // that there should be (static pools), that there are
	made             []time.Time // claims, within the window
	pods, base       int         // most pods when one was made, and claims before these
}
