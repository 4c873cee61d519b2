package main

import (
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"

	"github.com/plumbline-e2e/plumbline/e2e/history"
	"github.com/plumbline-e2e/plumbline/e2e/invariant"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
)

// instancePending is the reason of the Events that simulated clouds write of a launch. The message is the provider ID.
const instancePending = "InstancePending"

// launchedAgain reports whether a recording shows that the controller was killed when it had launched an instance whose
// provider ID no NodeClaim had, nor ever got, and that a NodeClaim that was waiting for one got another afterwards. Why
// that ends badly is in suites/findings.md.
func launchedAgain(h *history.History) bool {
	w, pending := h.Start(), sets.New[string]()
	unrecorded, waiting, got := sets.New[string](), sets.New[types.UID](), sets.New[string]()
	for _, e := range h.Events() {
		if e.Object != nil {
			u := e.Object.Unstructured()
			switch {
			case e.Resource == karpenter.NodeClaims:
				if id := karpenter.NodeClaimProviderID(u); id != "" && waiting.Has(u.GetUID()) {
					got.Insert(id)
				}
			case e.Resource == karpenter.Events && karpenter.EventReason(u) == instancePending:
				pending.Insert(karpenter.EventMessage(u))
			case e.Resource == karpenter.Events && karpenter.EventReason(u) == invariant.ReasonKilled:
				recorded, without := claimsOf(w)
				unrecorded = unrecorded.Union(joined(w).Union(pending).Difference(recorded))
				waiting = waiting.Union(without)
			}
		}
		w.Apply(e)
	}
	return unrecorded.Difference(got).Len() > 0 && got.Difference(unrecorded).Len() > 0
}

// claimsOf returns the provider IDs that NodeClaims have, and the UIDs of those that have none.
func claimsOf(w *history.World) (ids sets.Set[string], without sets.Set[types.UID]) {
	ids, without = sets.New[string](), sets.New[types.UID]()
	for _, c := range w.List(karpenter.NodeClaims) {
		if id := karpenter.NodeClaimProviderID(c.Unstructured()); id != "" {
			ids.Insert(id)
		} else {
			without.Insert(c.Unstructured().GetUID())
		}
	}
	return ids, without
}

// joined returns the provider IDs of nodes that Karpenter has not registered.
func joined(w *history.World) sets.Set[string] {
	ids := sets.New[string]()
	for _, node := range w.List(karpenter.Nodes) {
		id := karpenter.NodeProviderID(node.Unstructured())
		if id != "" && karpenter.HasTaint(node.Unstructured(), karpenter.UnregisteredTaint) {
			ids.Insert(id)
		}
	}
	return ids
}
