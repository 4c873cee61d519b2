package invariant

import (
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/e2e/history"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
)

const (
	// deadPool is how long after a pool's deletion NodeClaims that were under way may
	// still come.
	deadPool = 10 * time.Second
	// runawayWindow and runawayFloor bound how many NodeClaims are made without new
	// input: within the window at most the floor and two for each pod and each
	// NodeClaim of the pool that there was.
	runawayWindow = time.Minute
	runawayFloor  = 10
	// movesEach is how often each pod of a workload may be evicted by choice, on
	// average, without new input.
	movesEach = 2
)

// comesToRest says that without new input Karpenter comes to rest. Input is a change
// of a NodePool's spec, or any change of a NodeClass; it starts the count anew.
// Without it
//
//   - Drifted doesn't come, go and come again on one NodeClaim (what is lost while it
//     registers is not counted), nor does a NodeClaim drift that was made more than ten seconds after the last input to its pool;
//   - voluntary disruption doesn't evict the pods of one owner more than twice each,
//     on average;
//   - no pool gets more NodeClaims in a minute than ten and two for each of the pods
//     and of its NodeClaims that there were: not even when launches fail;
//   - a pool that is being deleted, or is gone, gets no NodeClaims any more, ten
//     seconds after (upstream issue 2840: a static pool did).
//
// What the provider's cloud does by itself (a new image behind an alias) is input
// that no recording shows. That NodeClaims are made only for a reason isn't judged,
// since not all reasons are recorded (capacity buffers); nor is how the rate of failing
// launches falls over several minutes.
//
// Sources: Karpenter, designs/drift.md; pkg/controllers/provisioning;
// https://github.com/kubernetes-sigs/karpenter/issues/2840.
func comesToRest() Invariant {
	const name = "Karpenter comes to rest when nothing changes"
	return Invariant{
		Name:   name,
		Source: "designs/drift.md; kubernetes-sigs/karpenter#2840",
		Check: func(p Params) check.Check {
			reads := []schema.GroupVersionResource{karpenter.NodePools, karpenter.NodeClaims, karpenter.Pods}
			if !p.NodeClass.Empty() {
				reads = append(reads, p.NodeClass)
			}
			return check.Follow(name, "no NodeClaim was made or has drifted", func() func(*check.Moment) {
				return (&unrest{pools: map[string]*restless{}, claimOn: map[string]*history.Object{}, owners: map[string]*moved{}}).see
			}, reads...)
		},
	}
}

type unrest struct {
	pools   map[string]*restless
	claimOn map[string]*history.Object // NodeClaims by the name of their node
	owners  map[string]*moved          // by UID
	pods    int
}

// restless is what a pool did since the last input to it.
type restless struct {
	input   time.Time
	dying   time.Time       // since when it is being deleted; zero if it isn't
	claims  int             // that there are
	peak    int             // most claims and pods, at any time since the window began
	drifted map[string]bool // claims that had drifted and don't any more, by UID
	made    []time.Time     // within the window
}

// moved is how often the pods of an owner were, since the last input to any pool.
type moved struct{ pods, peak, evictions int }

func (u *unrest) see(m *check.Moment) {
	switch {
	case m.End:
	case m.Event == nil:
		u.start(m.World)
	case m.Event.Resource == karpenter.NodePools:
		u.poolChanged(m)
	case m.Event.Resource == karpenter.NodeClaims:
		u.claim(m)
	case m.Event.Resource == karpenter.Pods:
		u.pod(m)
	default: // the NodeClass
		u.input(m.Time, "")
	}
}

func (u *unrest) start(w *history.World) {
	for _, claim := range w.List(karpenter.NodeClaims) {
		u.pool(karpenter.NodePoolOf(claim.Unstructured())).claims++
		u.claimOn[karpenter.ClaimNode(claim.Unstructured())] = claim
	}
	for _, pod := range w.List(karpenter.Pods) {
		u.pods++
		u.owner(pod.Unstructured()).came()
	}
	for _, pool := range w.List(karpenter.NodePools) {
		u.pool(pool.Name).input = w.Time()
	}
}

func (u *unrest) pool(name string) *restless {
	p := u.pools[name]
	if p == nil {
		p = &restless{drifted: map[string]bool{}}
		u.pools[name] = p
	}
	return p
}

// input starts the count anew: of one pool, of all if it has no name.
func (u *unrest) input(now time.Time, pool string) {
	for name, p := range u.pools {
		if pool == "" || pool == name {
			p.input, p.drifted, p.made, p.peak = now, map[string]bool{}, nil, p.claims+u.pods
		}
	}
	for _, o := range u.owners {
		o.evictions, o.peak = 0, o.pods
	}
}

func (u *unrest) poolChanged(m *check.Moment) {
	name := m.Event.Object.Name
	p := u.pool(name)
	if gone(m) || beginsToGo(m) {
		if p.dying.IsZero() {
			p.dying = m.Time
		}
		return
	}
	if m.Before == nil {
		p.dying = time.Time{}
	}
	if m.Before == nil || changedAt(m, "spec") {
		u.input(m.Time, name)
	}
}

func (u *unrest) claim(m *check.Moment) {
	claim := m.Event.Object
	name := karpenter.NodePoolOf(claim.Unstructured())
	if name == "" {
		return
	}
	p := u.pool(name)
	switch {
	case gone(m):
		p.claims--
	case m.Before == nil:
		p.claims++
		p.grew(u.pods)
		m.Tested()
		p.judgeMade(m, name)
	default:
		u.claimOn[karpenter.ClaimNode(claim.Unstructured())] = claim
		p.judgeDrift(m)
	}
}

func (p *restless) grew(pods int) { p.peak = max(p.peak, p.claims+pods) }

// judgeMade judges a new NodeClaim.
func (p *restless) judgeMade(m *check.Moment, pool string) {
	if !p.dying.IsZero() && m.Time.Sub(p.dying) > deadPool {
		m.Suspect(fmt.Sprintf("a NodeClaim was made for pool %s %s after its deletion", pool, m.Time.Sub(p.dying).Round(time.Second)), m.Event.Object)
	}
	for len(p.made) > 0 && m.Time.Sub(p.made[0]) > runawayWindow {
		p.made = p.made[1:]
	}
	if len(p.made) == 0 {
		p.peak = p.claims // of the window that begins here; the pods follow
	}
	p.made = append(p.made, m.Time)
	if allowed := runawayFloor + 2*p.peak; len(p.made) > allowed {
		m.Suspect(fmt.Sprintf("pool %s got %d NodeClaims within %s although nothing changed; %d would be plenty",
			pool, len(p.made), m.Time.Sub(p.made[0]).Round(time.Second), allowed), m.Event.Object)
	}
}

// judgeDrift judges a change of Drifted.
func (p *restless) judgeDrift(m *check.Moment) {
	claim := m.Event.Object
	is, was := karpenter.IsTrue(claim.Unstructured(), karpenter.Drifted), karpenter.IsTrue(m.Before.Unstructured(), karpenter.Drifted)
	switch {
	case was && !is && !overwritten(m):
		p.drifted[claim.UID] = true
	case is && !was:
		m.Tested()
		if p.drifted[claim.UID] {
			m.Suspect("Drifted came, went and came again although neither the pool nor its NodeClass changed", claim)
		}
		if made := moment(claim.Unstructured(), "metadata", "creationTimestamp"); !p.input.IsZero() && made.Sub(p.input) > deadPool {
			m.Suspect(fmt.Sprintf("a NodeClaim has drifted that was made %s after the last change of its pool and its NodeClass", made.Sub(p.input).Round(time.Second)), claim)
		}
	}
}

// overwritten says whether a condition may have gone because another controller, which
// hadn't seen it yet, wrote all conditions at once when it had reached a stage
// (Karpenter: pkg/controllers/nodeclaim/lifecycle/controller.go, seen from v1.9.0 to
// v1.15.0). It is back at once.
func overwritten(m *check.Moment) bool {
	for _, stage := range stages {
		if becomes(m, stage) {
			return true
		}
	}
	return false
}

func (u *unrest) pod(m *check.Moment) {
	pod := m.Event.Object.Unstructured()
	switch o := u.owner(pod); {
	case gone(m):
		u.pods--
		o.pods--
	case m.Before == nil:
		u.pods++
		o.came()
		for _, p := range u.pools {
			p.grew(u.pods)
		}
	case evictedHere(m) && u.byChoice(pod):
		m.Tested()
		if o.evictions++; o.evictions > movesEach*o.peak {
			m.Suspect(fmt.Sprintf("the pods of its owner, %d at most, were evicted %d times although nothing changed", o.peak, o.evictions), m.Event.Object)
		}
	}
}

// byChoice says whether the node of a pod is disrupted voluntarily.
func (u *unrest) byChoice(pod *unstructured.Unstructured) bool {
	claim := u.claimOn[karpenter.PodNode(pod)]
	return claim != nil && voluntaryReason(claim.Unstructured()) != ""
}

func (o *moved) came() {
	o.pods++
	o.peak = max(o.peak, o.pods)
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
