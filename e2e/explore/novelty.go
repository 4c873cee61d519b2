package explore

import (
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
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
		if source, _, _ := unstructured.NestedString(u.Object, "source", "component"); source == "karpenter" {
			reason, _, _ := unstructured.NestedString(u.Object, "reason")
			return []string{reason}
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
	all, _, _ := unstructured.NestedSlice(u.Object, "status", "conditions")
	for _, c := range all {
		c, _ := c.(map[string]any)
		name, _ := c["type"].(string)
		status, _ := c["status"].(string)
		if key := e.Object.UID + name; conditions[key] != status {
			conditions[key] = status
			facts = append(facts, kind+" "+name+"="+status)
		}
	}
	return facts
}
