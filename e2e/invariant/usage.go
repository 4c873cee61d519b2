package invariant

import (
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/plumbline-e2e/plumbline/e2e/history"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
)

// count takes over what a NodeClaim and its node, which may be nil, use now.
func (l *launches) count(node, claim *history.Object) {
	if karpenter.ClaimProviderID(claim.Unstructured()) == "" || deleting(claim) || disrupted(node, claim) ||
		reached(claim, karpenter.InstanceTerminating) {
		l.drop(claim.Name)
		return
	}
	now := share{pool: karpenter.NodePoolOf(claim.Unstructured())}
	now.claim, _, _ = unstructured.NestedFieldNoCopy(claim.Unstructured().Object, "status", "capacity")
	if node != nil {
		now.initialized = labelled(node, karpenter.InitializedLabel)
		now.node, _, _ = unstructured.NestedFieldNoCopy(node.Unstructured().Object, "status", "capacity")
	}
	if was, counted := l.shares[claim.Name]; counted && was.pool == now.pool && was.initialized == now.initialized &&
		equality.Semantic.DeepEqual(was.claim, now.claim) && equality.Semantic.DeepEqual(was.node, now.node) {
		return
	}
	l.drop(claim.Name)
	now.of = capacity(now)
	l.shares[claim.Name] = now
	u := l.pool(now.pool)
	u.members[claim.Name] = true
	for name, q := range now.of {
		if u.used[name] == nil {
			u.used[name] = &resource.Quantity{Format: q.Format}
		}
		u.used[name].Add(q)
	}
}

// drop takes a NodeClaim's share away.
func (l *launches) drop(claim string) {
	was, counted := l.shares[claim]
	if !counted {
		return
	}
	delete(l.shares, claim)
	u := l.pool(was.pool)
	delete(u.members, claim)
	for name, q := range was.of {
		u.used[name].Sub(q)
	}
}

// capacity is the node's once it is initialized; before, the NodeClaim's, where the
// node doesn't say otherwise (Karpenter: pkg/controllers/state/statenode.go,
// Capacity). It is always one node.
func capacity(s share) map[string]resource.Quantity {
	all := map[string]resource.Quantity{}
	if !s.initialized {
		all = quantities(s.claim)
	}
	for name, q := range quantities(s.node) {
		if s.initialized || !q.IsZero() {
			all[name] = q
		}
	}
	all[nodesLimit] = *resource.NewQuantity(1, resource.DecimalSI)
	return all
}

// quantities reads a list of resources; what can't be read is left out.
func quantities(list any) map[string]resource.Quantity {
	all := map[string]resource.Quantity{}
	entries, _ := list.(map[string]any)
	for name, v := range entries {
		switch v := v.(type) {
		case string:
			if q, err := resource.ParseQuantity(v); err == nil {
				all[name] = q
			}
		case int64:
			all[name] = *resource.NewQuantity(v, resource.DecimalSI)
		}
	}
	return all
}
