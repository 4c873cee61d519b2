package karpenter

import (
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// Condition returns the condition of a type, and whether the object has it. It works on every
// kind whose status.conditions follow the Kubernetes API conventions, such as nodes, pods,
// NodeClaims, NodePools and NodeClasses. An unreadable time is zero.
func Condition(o *unstructured.Unstructured, conditionType string) (metav1.Condition, bool) {
	for c := range mappings(o, fieldConditions) {
		if text(c, "type") != conditionType {
			continue
		}
		return metav1.Condition{
			Type:               conditionType,
			Status:             metav1.ConditionStatus(text(c, "status")),
			Reason:             text(c, "reason"),
			Message:            text(c, "message"),
			LastTransitionTime: metav1.Time{Time: parseTime(text(c, "lastTransitionTime"))},
			ObservedGeneration: integer(c, "observedGeneration"),
		}, true
	}
	return metav1.Condition{}, false
}

// Conditions returns all conditions of the object, in the order of its status.
func Conditions(o *unstructured.Unstructured) []metav1.Condition {
	var all []metav1.Condition
	for c := range mappings(o, fieldConditions) {
		if condition, ok := Condition(o, text(c, "type")); ok {
			all = append(all, condition)
		}
	}
	return all
}

// IsTrue reports whether the object has the condition with status True.
func IsTrue(o *unstructured.Unstructured, conditionType string) bool {
	for c := range mappings(o, fieldConditions) {
		if text(c, "type") == conditionType {
			return text(c, "status") == string(metav1.ConditionTrue)
		}
	}
	return false
}

func parseTime(s string) time.Time {
	t, err := time.Parse(time.RFC3339, s)
	if err != nil {
		return time.Time{}
	}
	return t
}
