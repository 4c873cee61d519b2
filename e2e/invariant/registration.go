package invariant

import (
	"fmt"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/e2e/history"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
)

// registeredWhole is that a node joins with the unregistered taint, that the taint
// goes with the registration and not before, and that by then the node has what its
// NodeClaim demands: labels, taints, startup taints. Else pods that must not run
// there are bound in between. Labels and taints stay until the node is deleted; a startup
// taint that somebody has removed after that is not put back: its owner has said that the
// node is ready; nor is the node said to be initialized before, or before it ever was ready.
//
// Source: the taint karpenter.sh/unregistered (Karpenter: pkg/apis/v1/taints.go),
// which providers put on their nodes; spec.taints and spec.startupTaints of NodeClaim;
// Karpenter: pkg/controllers/nodeclaim/lifecycle/registration.go.
//
// A node with the label karpenter.sh/do-not-sync-taints has only its labels
// judged. That a node has joined is judged if the recording shows it. Taints that go
// together with a startup taint were removed by its owner, and aren't missed; whoever
// removes others, or labels, by hand looks like the provider. A label may go that the
// NodeClaim has lost before, as when a provider says that a node is on-demand from now on.
func registeredWhole() Invariant {
	const name = "nodes are registered whole, and unregistered until then"
	return Invariant{
		Name:   name,
		Source: "karpenter.sh/unregistered taint, NodeClaim spec.taints and spec.startupTaints; Karpenter: pkg/controllers/nodeclaim/lifecycle/registration.go",
		Check: func(Params) check.Check {
			return check.Follow(name, "no node was registered", func() func(*check.Moment) {
				r := &registrations{newFleet(), map[string]bool{}, map[string][]string{}, map[string]bool{}}
				return r.follow
			}, karpenter.Nodes, karpenter.NodeClaims)
		},
	}
}

type registrations struct {
	fleet
	bare    map[string]bool     // nodes that joined without the taint, by UID
	removed map[string][]string // startup taints that were removed, by the node's UID
	ready   map[string]bool     // nodes that have joined, by UID: whether they ever were ready
}

func (r *registrations) follow(m *check.Moment) {
	r.see(m)
	if m.Event == nil || m.Event.Resource != karpenter.Nodes {
		return
	}
	node := m.Event.Object
	r.initialized(m, node)
	switch {
	case m.Event.Type == watch.Deleted:
		delete(r.bare, node.UID)
		delete(r.removed, node.UID)
		delete(r.ready, node.UID)
	case m.Before == nil || m.Before.UID != node.UID:
		r.bare[node.UID] = !unregistered(node)
		if labelled(node, karpenter.RegisteredLabel) {
			m.Suspect(fmt.Sprintf("node %s joins with the label %s already: nobody has synced its labels and taints yet", node.Name, karpenter.RegisteredLabel), node)
		}
	case labelled(node, karpenter.RegisteredLabel) && !labelled(m.Before, karpenter.RegisteredLabel):
		r.registered(m, node)
	case unregistered(m.Before) && !unregistered(node):
		m.Broken(fmt.Sprintf("node %s loses the taint %s without being registered", node.Name, karpenter.UnregisteredTaint), node)
	case labelled(m.Before, karpenter.RegisteredLabel):
		r.labels(m, node)
		r.taints(m, node)
	}
}

func (r *registrations) registered(m *check.Moment, node *history.Object) {
	m.Tested()
	switch {
	case r.bare[node.UID]:
		m.Suspect(fmt.Sprintf("node %s is registered, and joined without the taint %s", node.Name, karpenter.UnregisteredTaint), node)
	case !unregistered(m.Before):
		m.Suspect(fmt.Sprintf("node %s is registered, and had lost the taint %s before", node.Name, karpenter.UnregisteredTaint), m.Before)
	case unregistered(node):
		m.Broken(fmt.Sprintf("node %s is registered, and has the taint %s still", node.Name, karpenter.UnregisteredTaint), node)
	}
	claim := r.claimOf(node)
	if claim == nil {
		claim = launching(m.World, node)
	}
	if claim == nil {
		m.Suspect(fmt.Sprintf("node %s is registered, and no NodeClaim has its provider ID", node.Name), node)
		return
	}
	if missing := demanded(claim, node); len(missing) > 0 {
		m.Suspect(fmt.Sprintf("node %s is registered without what NodeClaim %s demands: %v", node.Name, claim.Name, missing), node, claim)
	}
}

// launching is the NodeClaim that owns a node, as far as it has no provider ID yet:
// Karpenter may launch and register in one go, and writes the NodeClaim's status last.
func launching(w *history.World, node *history.Object) *history.Object {
	for _, owner := range list(node.Unstructured(), "metadata", "ownerReferences") {
		name, _ := owner["name"].(string)
		claim := w.Get(karpenter.NodeClaims, "", name)
		if owner["kind"] == "NodeClaim" && claim != nil && karpenter.ClaimProviderID(claim.Unstructured()) == "" {
			return claim
		}
	}
	return nil
}

// demanded is what a node lacks of what its NodeClaim demands, in words.
func demanded(claim, node *history.Object) []string {
	var missing []string
	c, n := claim.Unstructured(), node.Unstructured()
	labels, demands := n.GetLabels(), c.GetLabels()
	for _, key := range slices.Sorted(maps.Keys(demands)) {
		if labels[key] != demands[key] {
			missing = append(missing, fmt.Sprintf("label %s=%s", key, demands[key]))
		}
	}
	if labels[karpenter.DoNotSyncTaintsLabel] == "true" {
		return missing
	}
	has := kinds(karpenter.Taints(n))
	for _, t := range slices.Concat(karpenter.Taints(c), startupTaints(c)) {
		if !slices.Contains(has, kind(t)) {
			missing = append(missing, "taint "+kind(t))
		}
	}
	return missing
}

// initialized judges that a node is said to be initialized when it can be.
func (r *registrations) initialized(m *check.Moment, node *history.Object) {
	joins := m.Before == nil || m.Before.UID != node.UID
	wasReady, joined := r.ready[node.UID]
	if gone(m) || !joins && !joined { // it was there from the start
		return
	}
	r.ready[node.UID] = wasReady || karpenter.NodeReady(node.Unstructured())
	claim := r.claimOf(node)
	if joins || claim == nil || !labelled(node, karpenter.InitializedLabel) || labelled(m.Before, karpenter.InitializedLabel) {
		return
	}
	m.Tested()
	if !r.ready[node.UID] {
		m.Suspect(fmt.Sprintf("node %s is said to be initialized, and never was ready", node.Name), node, claim)
	}
	has := kinds(karpenter.Taints(node.Unstructured()))
	for _, t := range kinds(startupTaints(claim.Unstructured())) {
		if slices.Contains(has, t) && !slices.Contains(r.removed[node.UID], t) {
			m.Suspect(fmt.Sprintf("node %s is said to be initialized, and has the startup taint %s still", node.Name, t), node, claim)
		}
	}
}

// labels judges that a node keeps those that its NodeClaim demands.
func (r *registrations) labels(m *check.Moment, node *history.Object) {
	claim := r.claimOf(node)
	if claim == nil || deleting(node) {
		return
	}
	had, has, demands := m.Before.Unstructured(), node.Unstructured(), claim.Unstructured().GetLabels()
	var lost []string
	for _, key := range slices.Sorted(maps.Keys(demands)) {
		if karpenter.Label(had, key) == demands[key] && karpenter.Label(has, key) != demands[key] {
			lost = append(lost, key+"="+demands[key])
		}
	}
	if len(lost) > 0 {
		m.Suspect(fmt.Sprintf("node %s loses labels that NodeClaim %s demands: %v", node.Name, claim.Name, lost), node, claim)
	}
}

// taints judges that startup taints that were removed stay so, and that the others stay.
func (r *registrations) taints(m *check.Moment, node *history.Object) {
	had, has := kinds(karpenter.Taints(m.Before.Unstructured())), kinds(karpenter.Taints(node.Unstructured()))
	claim := r.claimOf(node)
	if claim == nil || slices.Equal(had, has) {
		return
	}
	startup := kinds(startupTaints(claim.Unstructured()))
	lost := slices.DeleteFunc(had, func(t string) bool { return slices.Contains(has, t) })
	started := false
	for _, t := range startup {
		switch {
		case slices.Contains(lost, t):
			started = true
			m.Tested()
			r.removed[node.UID] = append(r.removed[node.UID], t)
		case slices.Contains(has, t) && slices.Contains(r.removed[node.UID], t):
			m.Suspect(fmt.Sprintf("the startup taint %s is back on node %s, from which it was removed", t, node.Name), node)
		}
	}
	if started || labelled(node, karpenter.DoNotSyncTaintsLabel) {
		return
	}
	for _, t := range kinds(karpenter.Taints(claim.Unstructured())) {
		if slices.Contains(lost, t) {
			m.Suspect(fmt.Sprintf("node %s loses the taint %s, which NodeClaim %s demands", node.Name, t, claim.Name), node, claim)
		}
	}
}

func unregistered(node *history.Object) bool {
	return karpenter.HasTaint(node.Unstructured(), karpenter.UnregisteredTaint)
}

// startupTaints are spec.startupTaints of a NodeClaim.
func startupTaints(claim *unstructured.Unstructured) []corev1.Taint {
	var taints []corev1.Taint
	for _, t := range list(claim, "spec", "startupTaints") {
		key, _ := t["key"].(string)
		effect, _ := t["effect"].(string)
		taints = append(taints, corev1.Taint{Key: key, Effect: corev1.TaintEffect(effect)})
	}
	return taints
}

// kind is what makes two taints the same to Kubernetes (core/v1 Taint,
// MatchTaint).
func kind(t corev1.Taint) string { return t.Key + ":" + string(t.Effect) }

func kinds(taints []corev1.Taint) []string {
	var all []string
	for _, t := range taints {
		all = append(all, kind(t))
	}
	return all
}
