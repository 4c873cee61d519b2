package explore

import (
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/watch"

	"github.com/plumbline-e2e/plumbline/e2e/history"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
)

// Transitions returns which fact followed which in a recording, sorted: that NodeClaims and nodes come and go, that
// their conditions change, and the reasons of Karpenter's events. A sequence that shows a new one has led somewhere
// new.
func Transitions(h *history.History) []string {
	seen, last := map[string]bool{}, ""
	conditions := map[string]string{} // the status of each, by the object's UID and the condition's type
	for _, event := range h.Events() {
		for _, fact := range factsOf(event, conditions) {
			if last != "" && fact != last {
				seen[last+" > "+fact] = true
			}
			last = fact
		}
	}
	return slices.Sorted(maps.Keys(seen))
}

// factsOf returns the facts that an event shows, such as "NodeClaim Drifted=True".
func factsOf(e history.Event, conditions map[string]string) (facts []string) {
	u := e.Object.Unstructured()
	kind := u.GetKind()
	switch e.Resource {
	case karpenter.Events:
		if karpenter.EventComponent(u) == "karpenter" {
			return []string{karpenter.EventReason(u)}
		}
		return nil
	case karpenter.NodeClaims, karpenter.Nodes:
	default:
		return nil
	}
	switch {
	case e.Type != watch.Modified:
		facts = append(facts, kind+" "+strings.ToLower(string(e.Type)))
	case karpenter.Deleting(u) && conditions[e.Object.UID] == "":
		conditions[e.Object.UID] = "deleting"
		facts = append(facts, kind+" deleting")
	}
	for _, c := range karpenter.Conditions(u) {
		if key, status := e.Object.UID+c.Type, string(c.Status); conditions[key] != status {
			conditions[key] = status
			facts = append(facts, kind+" "+c.Type+"="+status)
		}
	}
	return facts
}
