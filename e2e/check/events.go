package check

import (
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
)

// Reports returns the Kubernetes Events with this reason (such as
// karpenter.ReasonFailedScheduling) that Karpenter reported about an object of this name, or
// about a pod of a workload of this name. A nil about means any object. Pods match by the
// prefix "name-", because they may be gone.
func Reports(reason string, about Named) Count {
	return ReportsFrom(karpenter.EventSource, reason, about)
}

// ReportsFrom is Reports for another component, such as "default-scheduler".
func ReportsFrom(component, reason string, about Named) Count {
	name := fmt.Sprintf("events %s from %s", reason, component)
	if about != nil {
		name += " about " + about.GetName()
	}
	return Where(name, karpenter.Events, func(event *unstructured.Unstructured) bool {
		return karpenter.EventReason(event) == reason &&
			karpenter.EventComponent(event) == component &&
			(about == nil || involves(karpenter.EventInvolved(event), about.GetName()))
	})
}

func involves(o karpenter.Involved, name string) bool {
	return o.Name == name || o.Kind == "Pod" && strings.HasPrefix(o.Name, name+"-")
}

// Mentioning matches Events whose message contains a text.
func Mentioning(text string) Predicate {
	return func(event *unstructured.Unstructured) bool {
		return strings.Contains(karpenter.EventMessage(event), text)
	}
}
