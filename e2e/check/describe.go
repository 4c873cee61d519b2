package check

import (
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/plumbline-e2e/plumbline/e2e/history"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
)

// Describe returns an object on one line, with the facts that matter in a failure.
func Describe(o *history.Object) string {
	u := o.Unstructured()
	facts := factsOf(u)
	if karpenter.Deleting(u) {
		facts = append(facts, "being deleted")
	}
	if len(facts) == 0 {
		return title(o)
	}
	return title(o) + ": " + strings.Join(facts, ", ")
}

// title returns an object's kind and name, as in "Pod default/web-1".
func title(o *history.Object) string {
	kind := o.Unstructured().GetKind()
	if kind == "" {
		kind = "object"
	}
	if o.Namespace != "" {
		return fmt.Sprintf("%s %s/%s", kind, o.Namespace, o.Name)
	}
	return kind + " " + o.Name
}

func factsOf(u *unstructured.Unstructured) []string {
	switch u.GetKind() {
	case "Node":
		return nodeFacts(u)
	case "NodeClaim":
		return claimFacts(u)
	case "Pod":
		return podFacts(u)
	case "Event":
		about := karpenter.EventInvolved(u)
		return []string{fmt.Sprintf("%s on %s %s: %s",
			karpenter.EventReason(u), about.Kind, about.Name, karpenter.EventMessage(u))}
	default:
		return conditionFacts(u)
	}
}

func nodeFacts(node *unstructured.Unstructured) []string {
	facts := []string{"not ready"}
	if karpenter.NodeReady(node) {
		facts[0] = "ready"
	}
	if pool := karpenter.NodePoolOf(node); pool != "" {
		facts = append(facts, "pool "+pool)
	}
	if id := karpenter.NodeProviderID(node); id != "" {
		facts = append(facts, "instance "+id)
	}
	for _, t := range karpenter.Taints(node) {
		facts = append(facts, "tainted "+t.ToString())
	}
	return facts
}

func claimFacts(claim *unstructured.Unstructured) []string {
	var facts []string
	if pool := karpenter.NodePoolOf(claim); pool != "" {
		facts = append(facts, "pool "+pool)
	}
	if node := karpenter.NodeClaimNode(claim); node != "" {
		facts = append(facts, "node "+node)
	}
	if id := karpenter.NodeClaimProviderID(claim); id != "" {
		facts = append(facts, "instance "+id)
	}
	return append(facts, conditionFacts(claim)...)
}

func podFacts(pod *unstructured.Unstructured) []string {
	facts := []string{string(karpenter.PodPhase(pod))}
	if node := karpenter.PodNode(pod); node != "" {
		facts = append(facts, "on "+node)
	} else {
		facts = append(facts, "not bound")
	}
	if karpenter.PodReady(pod) {
		facts = append(facts, "ready")
	}
	return facts
}

// conditionFacts returns the true conditions, and the others with their status and reason.
func conditionFacts(u *unstructured.Unstructured) []string {
	var facts []string
	for _, c := range karpenter.Conditions(u) {
		if c.Status == "True" {
			facts = append(facts, c.Type)
		} else {
			facts = append(facts, fmt.Sprintf("%s=%s (%s)", c.Type, c.Status, c.Reason))
		}
	}
	return facts
}

// lines describes objects, each on its own line.
func lines(objects []*history.Object) string {
	var b strings.Builder
	for _, o := range objects {
		b.WriteString("\n  " + Describe(o))
	}
	return b.String()
}
