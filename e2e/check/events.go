package check

import (
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
)

// Reports are the Kubernetes Events with this reason (such as
// karpenter.ReasonFailedScheduling) that Karpenter reported about an object of
// this name, or about a pod of a workload of this name; about anything if about
// is nil. A pod is known by its name, since it may be gone: the workload's and
// a dash before it.
func Reports(reason string, about Named) Count {
	return ReportsFrom(karpenter.EventSource, reason, about)
}

// ReportsFrom is Reports of another component, such as "default-scheduler".
func ReportsFrom(component, reason string, about Named) Count {
	name := fmt.Sprintf("events %s from %s", reason, component)
	if about != nil {
		name += " about " + about.GetName()
	}
	return Where(name, karpenter.Events, func(event *unstructured.Unstructured) bool {
		return karpenter.EventReason(event) == reason &&
			karpenter.EventComponent(event) == component &&
			(about == nil || concerns(karpenter.EventInvolved(event), about.GetName()))
	})
}

func concerns(o karpenter.Involved, name string) bool {
	return o.Name == name || o.Kind == "Pod" && strings.HasPrefix(o.Name, name+"-")
}

// Mentioning says whether an Event's message has a text in it.
func Mentioning(text string) Predicate {
	return func(event *unstructured.Unstructured) bool {
		return strings.Contains(karpenter.EventMessage(event), text)
	}
}
