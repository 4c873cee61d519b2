package invariant

import (
	"slices"

	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/e2e/history"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
)

// registeredWhole checks that a node has what its NodeClaim demands when pods find it.
// Otherwise pods that must not run there are bound in between:
//
//   - A node joins with the unregistered taint. It loses the taint only when it is registered.
//   - A registered node has the labels, taints and startup taints of its NodeClaim, and the
//     annotations that its NodeClaim was made with. It keeps the labels and taints until it is
//     deleted. A removed startup taint does not come back, because its owner has declared the
//     node ready.
//   - A node is initialized only after it was ready once, and without its startup taints.
//
// With the label karpenter.sh/do-not-sync-taints, only the labels of a node are judged. How a
// node joined is judged if the recording shows it. Taints that go together with a startup
// taint were removed by its owner. Other taints or labels removed by hand look like the
// provider's doing. A label may go that the NodeClaim has lost before, as when a provider
// changes a node to on-demand.
func registeredWhole() Invariant {
	return Invariant{
		Name: "nodes are registered with all that their NodeClaims demand, and not before",
		Source: "karpenter.sh/unregistered taint, which providers put on their nodes (Karpenter: pkg/apis/v1/taints.go); " +
			"NodeClaim spec.taints and spec.startupTaints; Karpenter: pkg/controllers/nodeclaim/lifecycle/registration.go",
		Untested: "no node was registered",
		Reads:    resources{karpenter.Nodes, karpenter.NodeClaims},
		New: func(Params) check.Monitor {
			return &registrationMonitor{newNodeIndex(), map[string]*registration{}, map[string]*history.Object{}}
		},
	}
}

type registrationMonitor struct {
	nodeIndex
	known map[string]*registration   // by the node's UID
	made  map[string]*history.Object // NodeClaims as they were made, by UID
}

// registration is what was seen of one node.
type registration struct {
	joined  bool     // it joined during the recording,
	bare    bool     // without the unregistered taint
	ready   bool     // it was ready at least once
	removed []string // startup taints that were removed from it
}

func (r *registrationMonitor) Observe(m *check.Moment) {
	r.observe(m)
	if m.Resource() == karpenter.NodeClaims {
		r.note(m)
	}
	if m.Resource() != karpenter.Nodes {
		return
	}
	node := m.Event.Object
	if m.Deleted() {
		delete(r.known, node.UID)
		return
	}
	known, nodeClaim := getOrNew(r.known, node.UID), r.nodeClaimOf(node)
	known.ready = known.ready || karpenter.NodeReady(node.Unstructured())
	if known.joined && nodeClaim != nil && becomesLabeled(m, karpenter.InitializedLabel) {
		known.judgeInitialized(m, node, nodeClaim)
	}
	switch {
	case m.Before == nil:
		known.joined, known.bare = true, !isUnregistered(node)
		if isLabeled(node, karpenter.RegisteredLabel) {
			m.Suspect("node %s joins with the label %s already: nobody has synced its labels and taints yet",
				node, karpenter.RegisteredLabel)
		}
	case becomesLabeled(m, karpenter.RegisteredLabel):
		known.judgeRegistered(m, node, nodeClaim, r.made)
	case isUnregistered(m.Before) && !isUnregistered(node):
		m.Broken("node %s loses the taint %s without being registered", node, karpenter.UnregisteredTaint)
	case isLabeled(m.Before, karpenter.RegisteredLabel) && nodeClaim != nil:
		judgeLostLabels(m, node, nodeClaim)
		known.judgeTaints(m, node, nodeClaim)
	}
}

// note keeps a NodeClaim as it was made: its annotations may go before its node has them.
func (r *registrationMonitor) note(m *check.Moment) {
	switch nodeClaim := m.Event.Object; {
	case m.Deleted():
		delete(r.made, nodeClaim.UID)
	case m.Before == nil:
		r.made[nodeClaim.UID] = nodeClaim
	}
}

func (r *registration) judgeRegistered(
	m *check.Moment, node, nodeClaim *history.Object, made map[string]*history.Object,
) {
	m.Tested()
	switch {
	case r.bare:
		m.Suspect("node %s is registered, and joined without the taint %s", node, karpenter.UnregisteredTaint)
	case !isUnregistered(m.Before):
		m.Suspect("node %s is registered, and had lost the taint %s before",
			node.Name, karpenter.UnregisteredTaint).Beside(m.Before)
	case isUnregistered(node):
		m.Broken("node %s is registered, and has the taint %s still", node, karpenter.UnregisteredTaint)
	}
	if nodeClaim == nil {
		nodeClaim = launchingOwner(m.World, node)
	}
	if nodeClaim == nil {
		m.Suspect("node %s is registered, and no NodeClaim has its provider ID", node)
		return
	}
	var missing []string
	for _, label := range missingLabels(nodeClaim, node) {
		missing = append(missing, "label "+label)
	}
	for _, annotation := range missingAnnotations(made[nodeClaim.UID], nodeClaim, node) {
		missing = append(missing, "annotation "+annotation)
	}
	if !isLabeled(node, karpenter.DoNotSyncTaintsLabel) {
		demanded := slices.Concat(taintKinds(nodeClaim, "taints"), taintKinds(nodeClaim, "startupTaints"))
		for _, t := range difference(demanded, taintKinds(node, "taints")) {
			missing = append(missing, "taint "+t)
		}
	}
	if len(missing) > 0 {
		m.Suspect("node %s is registered without what NodeClaim %s demands: %v", node, nodeClaim, missing)
	}
}

// launchingOwner returns the NodeClaim that owns a node and has no provider ID yet. Karpenter
// may launch and register in one go, and writes the NodeClaim's status last.
func launchingOwner(w *history.World, node *history.Object) *history.Object {
	for _, owner := range ownersOf(node.Unstructured()) {
		name, _ := owner["name"].(string)
		nodeClaim := w.Get(karpenter.NodeClaims, "", name)
		if owner["kind"] == "NodeClaim" && nodeClaim != nil && karpenter.NodeClaimProviderID(nodeClaim.Unstructured()) == "" {
			return nodeClaim
		}
	}
	return nil
}

func (r *registration) judgeInitialized(m *check.Moment, node, nodeClaim *history.Object) {
	m.Tested()
	if !r.ready {
		m.Suspect("node %s is said to be initialized, and never was ready", node).Beside(nodeClaim)
	}
	has := taintKinds(node, "taints")
	for _, t := range difference(taintKinds(nodeClaim, "startupTaints"), r.removed) {
		if slices.Contains(has, t) {
			m.Suspect("node %s is said to be initialized, and has the startup taint %s still", node, t).Beside(nodeClaim)
		}
	}
}

// judgeLostLabels judges whether a registered node keeps the labels its NodeClaim demands.
func judgeLostLabels(m *check.Moment, node, nodeClaim *history.Object) {
	missing := missingLabels(nodeClaim, node)
	if len(missing) == 0 || isDeleting(node) {
		return
	}
	if lost := difference(missing, missingLabels(nodeClaim, m.Before)); len(lost) > 0 {
		m.Suspect("node %s loses labels that NodeClaim %s demands: %v", node, nodeClaim, lost)
	}
}

// judgeTaints judges whether taints stay, and removed startup taints stay away.
func (r *registration) judgeTaints(m *check.Moment, node, nodeClaim *history.Object) {
	had, has := taintKinds(m.Before, "taints"), taintKinds(node, "taints")
	if slices.Equal(had, has) {
		return
	}
	lost, started := difference(had, has), false
	for _, t := range taintKinds(nodeClaim, "startupTaints") {
		switch {
		case slices.Contains(lost, t):
			started = true
			m.Tested()
			r.removed = append(r.removed, t)
		case slices.Contains(has, t) && slices.Contains(r.removed, t):
			m.Suspect("the startup taint %s is back on node %s, from which it was removed", t, node)
		}
	}
	if started || isLabeled(node, karpenter.DoNotSyncTaintsLabel) {
		return
	}
	for _, t := range taintKinds(nodeClaim, "taints") {
		if slices.Contains(lost, t) {
			m.Suspect("node %s loses the taint %s, which NodeClaim %s demands", node, t, nodeClaim)
		}
	}
}

func isUnregistered(node *history.Object) bool {
	return karpenter.HasTaint(node.Unstructured(), karpenter.UnregisteredTaint)
}

// missingLabels returns the labels that a NodeClaim demands and its node lacks, sorted.
func missingLabels(nodeClaim, node *history.Object) []string {
	demands, _ := fieldAt(nodeClaim.Unstructured(), "metadata", "labels").(map[string]any)
	var missing []string
	for key, v := range demands {
		if value, _ := v.(string); karpenter.Label(node.Unstructured(), key) != value {
			missing = append(missing, key+"="+value)
		}
	}
	slices.Sort(missing)
	return missing
}

// missingAnnotations returns the annotations that a NodeClaim was made with and its node lacks, sorted. A node may have
// the value that the NodeClaim has by now. It isn't known how a NodeClaim was made that is nil.
func missingAnnotations(made, nodeClaim, node *history.Object) []string {
	if made == nil {
		return nil
	}
	has := node.Unstructured().GetAnnotations()
	var missing []string
	for key, value := range made.Unstructured().GetAnnotations() {
		if is, there := has[key]; !there || is != value && is != nodeClaim.Unstructured().GetAnnotations()[key] {
			missing = append(missing, key+"="+value)
		}
	}
	slices.Sort(missing)
	return missing
}

// difference returns the words of one list that are not in another, in order.
func difference(all, these []string) []string {
	return slices.DeleteFunc(slices.Clone(all), func(s string) bool { return slices.Contains(these, s) })
}
