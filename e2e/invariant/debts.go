package invariant

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/e2e/history"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
)

// expectClaim notes that a node of Karpenter's has no NodeClaim.
func (l *ledger) expectClaim(m *check.Moment, node *history.Object) {
	u, key := node.Unstructured(), "node/"+node.Name
	karpenters := karpenter.NodePoolOf(u) != "" || karpenter.HasTaint(u, karpenter.UnregisteredTaint)
	if !karpenters || l.strays[node.UID] || l.claimOf(node) != nil {
		delete(l.debts, key)
		return
	}
	l.owe(m, key, nodeBound, "node %s has no NodeClaim", node)
}

// sameNode judges that a NodeClaim keeps its node, and that it is its instance's.
func (l *ledger) sameNode(m *check.Moment, claim *history.Object) {
	had, on := "", karpenter.ClaimNode(claim.Unstructured())
	if m.Before != nil && m.Before.UID == claim.UID {
		had = karpenter.ClaimNode(m.Before.Unstructured())
	}
	if had == on {
		return
	}
	node := m.World.Get(karpenter.Nodes, "", on)
	switch {
	case had != "":
		m.Suspect(fmt.Sprintf("NodeClaim %s had the node %s, and now has %q", claim.Name, had, on), m.Before, claim)
	case node != nil && karpenter.NodeProviderID(node.Unstructured()) != karpenter.ClaimProviderID(claim.Unstructured()):
		m.Suspect(fmt.Sprintf("NodeClaim %s says that its node is %s, and its instance %s; that node is the instance %s",
			claim.Name, on, karpenter.ClaimProviderID(claim.Unstructured()), karpenter.NodeProviderID(node.Unstructured())), claim, node)
	}
}

// own judges that a NodeClaim owns one node.
func (l *ledger) own(m *check.Moment, node *history.Object) {
	for _, uid := range owners(node) {
		if other := l.owned[uid]; other != "" && other != node.Name {
			m.Suspect(fmt.Sprintf("nodes %s and %s have the same NodeClaim", other, node.Name), m.World.Get(karpenter.Nodes, "", other), node)
		}
		l.owned[uid] = node.Name
	}
}

// owners are the UIDs of the NodeClaims that own a node, which is one once it is
// registered.
func owners(node *history.Object) []string {
	var uids []string
	for _, owner := range list(node.Unstructured(), "metadata", "ownerReferences") {
		if uid, ok := owner["uid"].(string); ok && owner["kind"] == "NodeClaim" {
			uids = append(uids, uid)
		}
	}
	return uids
}

func (l *ledger) pod(m *check.Moment, pod *history.Object) {
	if gone(m) {
		delete(l.debts, podKey(pod))
	}
	l.note(pod, gone(m))
}

// note keeps which pods are on which node.
func (l *ledger) note(pod *history.Object, gone bool) {
	node := karpenter.PodNode(pod.Unstructured())
	switch {
	case node == "":
	case gone:
		delete(l.pods[node], podKey(pod))
		if len(l.pods[node]) == 0 {
			delete(l.pods, node)
		}
	default:
		if l.pods[node] == nil {
			l.pods[node] = map[string]*history.Object{}
		}
		l.pods[node][podKey(pod)] = pod
	}
}

func podKey(pod *history.Object) string { return "pod/" + pod.Namespace + "/" + pod.Name }

// owe notes that an object is alone, from now on if it wasn't.
func (l *ledger) owe(m *check.Moment, key string, bound time.Duration, why string, o *history.Object) {
	due := m.Time.Add(bound)
	if d, open := l.debts[key]; open && d.why == why {
		due = d.due
	}
	l.debts[key] = debt{due, why, bound, o}
	if l.next.IsZero() || due.Before(l.next) {
		l.next = due
	}
}

// collect judges what is overdue.
func (l *ledger) collect(m *check.Moment) {
	if l.next.IsZero() || !m.Time.After(l.next) {
		return
	}
	l.next = time.Time{}
	for _, key := range slices.Sorted(maps.Keys(l.debts)) {
		d := l.debts[key]
		if m.Time.After(d.due) {
			m.Suspect(fmt.Sprintf(d.why, d.object.Name)+fmt.Sprintf(", for longer than %s", d.bound), d.object)
		}
		if l.next.IsZero() || d.due.Before(l.next) {
			l.next = d.due
		}
	}
}

// close judges what is left when everything that it could belong to is gone.
func (l *ledger) close(m *check.Moment) {
	if len(m.World.List(karpenter.NodePools))+len(m.World.List(karpenter.NodeClaims)) > 0 {
		return
	}
	for _, key := range slices.Sorted(maps.Keys(l.debts)) {
		d := l.debts[key]
		alone := m.Time.Sub(d.due.Add(-d.bound))
		if strings.HasPrefix(key, "node/") && alone > closing {
			m.Suspect(fmt.Sprintf("all NodePools and NodeClaims are gone, and node %s is left: nobody will ever end its instance", d.object.Name), d.object)
		}
	}
}
