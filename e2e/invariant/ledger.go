package invariant

import (
	"fmt"
	"time"

	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/e2e/history"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
)

// How long one may be there without the other.
const (
	// launchBound: a NodeClaim without an instance; Karpenter deletes it after 5
	// minutes (Karpenter: pkg/controllers/nodeclaim/lifecycle/liveness.go).
	launchBound = 7 * time.Minute
	// joinBound: an instance without a node; Karpenter deletes its NodeClaim after
	// 15 minutes (the same).
	joinBound = 17 * time.Minute
	// claimBound: a NodeClaim whose node is gone. Garbage collection comes round
	// every 2 minutes (Karpenter: pkg/controllers/nodeclaim/garbagecollection).
	claimBound = 5 * time.Minute
	// nodeBound: a node without a NodeClaim, since it wasn't registered when that
	// went, or never had one; the provider's own collection is as slow.
	nodeBound = 5 * time.Minute
	// podBound: a pod whose node is gone. Kubernetes' collection waits 40 s and comes
	// round every 20 s (Kubernetes: pkg/controller/podgc).
	podBound = 2 * time.Minute
	// closing is how long a node may be alone when all pools and NodeClaims are gone.
	closing = 10 * time.Second
)

// ledgerCloses is that instances, NodeClaims and nodes come in threes and go
// together: a NodeClaim gets one instance and keeps it, an instance belongs to one
// NodeClaim and is one node; a NodeClaim goes after its node, and none of them, nor a
// pod, is left without the other for longer than its bound. Whatever is left alone
// costs money and serves nobody.
//
// Source: status.providerID of NodeClaim and spec.providerID of Node; Karpenter:
// pkg/controllers/nodeclaim/lifecycle, nodeclaim/garbagecollection and
// nodeclaim/consistency; the bounds say where they come from.
//
// Instances show as nodes only: what a cloud keeps that never joins is for the
// provider's own list of instances. A bound that isn't over at the end is not judged,
// but a Karpenter node that is alone when all pools and NodeClaims are gone, as
// after a clean-up, is. The KWOK provider leaves one when a NodeClaim is deleted in the
// middle of its launch: its Delete leaves the node to the registration that never comes.
func ledgerCloses() Invariant {
	const name = "instances, NodeClaims, nodes and pods come and go together"
	return Invariant{
		Name:   name,
		Source: "NodeClaim status.providerID; Karpenter: pkg/controllers/nodeclaim/lifecycle, nodeclaim/garbagecollection",
		Check: func(Params) check.Check {
			return check.Follow(name, "no instance was launched and no NodeClaim went", func() func(*check.Moment) {
				l := &ledger{
					fleet: newFleet(), strays: map[string]bool{}, owned: map[string]string{},
					pods: map[string]map[string]*history.Object{}, debts: map[string]debt{},
				}
				return l.follow
			}, karpenter.Nodes, karpenter.NodeClaims, karpenter.NodePools, karpenter.Pods)
		},
	}
}

type ledger struct {
	fleet
	strays map[string]bool                       // nodes that were alone from the start, by UID: not this recording's
	owned  map[string]string                     // the node of each NodeClaim by ownership, by the claim's UID
	pods   map[string]map[string]*history.Object // the pods on each node, by its name
	debts  map[string]debt                       // what is alone, by its key
	next   time.Time                             // when the first of them is due; zero if none
}

// debt is what must be gone, or no longer alone, by a time.
type debt struct {
	due    time.Time
	why    string // with the object's name for %s
	bound  time.Duration
	object *history.Object
}

func (l *ledger) follow(m *check.Moment) {
	if m.Event != nil && !gone(m) {
		l.unique(m) // before the fleet takes it over
	}
	l.see(m)
	switch {
	case m.Event == nil && m.End:
		l.close(m)
	case m.Event == nil:
		l.start(m)
	case m.Event.Resource == karpenter.NodeClaims:
		l.claim(m, m.Event.Object)
	case m.Event.Resource == karpenter.Nodes:
		l.node(m, m.Event.Object)
	case m.Event.Resource == karpenter.Pods:
		l.pod(m, m.Event.Object)
	}
	l.collect(m)
}

func (l *ledger) start(m *check.Moment) {
	for _, claim := range m.World.List(karpenter.NodeClaims) {
		l.expect(m, claim)
	}
	for _, node := range m.World.List(karpenter.Nodes) {
		l.own(m, node)
		l.strays[node.UID] = l.claimOf(node) == nil
	}
	for _, pod := range m.World.List(karpenter.Pods) {
		l.note(pod, false)
	}
}

// unique judges that an ID has one owner, and an owner one ID.
func (l *ledger) unique(m *check.Moment) {
	o := m.Event.Object
	switch m.Event.Resource {
	case karpenter.NodeClaims:
		id := karpenter.ClaimProviderID(o.Unstructured())
		had := ""
		if m.Before != nil && m.Before.UID == o.UID {
			had = karpenter.ClaimProviderID(m.Before.Unstructured())
		}
		if had != "" && had != id {
			m.Suspect(fmt.Sprintf("NodeClaim %s had the instance %s, and now has %q", o.Name, had, id), m.Before, o)
		}
		if other := l.claims[id]; other != nil && other.Name != o.Name {
			m.Suspect(fmt.Sprintf("NodeClaims %s and %s have the same instance, %s", other.Name, o.Name, id), other, o)
		}
		if had == "" && id != "" {
			m.Tested()
		}
		l.sameNode(m, o)
	case karpenter.Nodes:
		id := karpenter.NodeProviderID(o.Unstructured())
		if other := l.nodes[id]; other != nil && other.Name != o.Name {
			m.Suspect(fmt.Sprintf("nodes %s and %s are the same instance, %s", other.Name, o.Name, id), other, o)
		}
	}
}

func (l *ledger) claim(m *check.Moment, claim *history.Object) {
	key := "claim/" + claim.Name
	if !gone(m) {
		l.expect(m, claim)
		if node := l.nodeOf(claim); node != nil {
			delete(l.debts, "node/"+node.Name)
		}
		return
	}
	m.Tested()
	delete(l.debts, key)
	delete(l.owned, claim.UID)
	node := l.nodes[karpenter.ClaimProviderID(claim.Unstructured())]
	if node == nil {
		return
	}
	if reached(claim, karpenter.Registered) && labelled(node, karpenter.RegisteredLabel) {
		m.Suspect(fmt.Sprintf("NodeClaim %s is gone before its node %s", claim.Name, node.Name), claim, node)
	}
	l.expectClaim(m, node)
}

// expect notes what a NodeClaim that is there waits for.
func (l *ledger) expect(m *check.Moment, claim *history.Object) {
	key, u := "claim/"+claim.Name, claim.Unstructured()
	switch {
	case deleting(claim) || l.nodeOf(claim) != nil:
		delete(l.debts, key)
	case karpenter.ClaimProviderID(u) == "":
		l.owe(m, key, launchBound, "NodeClaim %s has no instance and is not being deleted", claim)
	case !reached(claim, karpenter.Registered):
		l.owe(m, key, joinBound, "NodeClaim %s has an instance, no node, and is not being deleted", claim)
	}
}

func (l *ledger) node(m *check.Moment, node *history.Object) {
	claim := l.claimOf(node)
	if !gone(m) {
		l.own(m, node)
		l.expectClaim(m, node)
		if claim != nil {
			l.expect(m, claim)
		}
		return
	}
	delete(l.debts, "node/"+node.Name)
	for _, uid := range owners(node) {
		if l.owned[uid] == node.Name {
			delete(l.owned, uid)
		}
	}
	if claim != nil && reached(claim, karpenter.Registered) {
		delete(l.debts, "claim/"+claim.Name)
		l.owe(m, "claim/"+claim.Name, claimBound, "NodeClaim %s is still there, and its node is gone", claim)
	}
	for key, pod := range l.pods[node.Name] {
		l.owe(m, key, podBound, "pod %s is still there, and its node is gone", pod)
	}
}
