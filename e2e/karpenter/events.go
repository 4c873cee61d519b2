package karpenter

import "k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

// Involved is the object that a Kubernetes Event is about.
type Involved struct{ Kind, Namespace, Name, UID string }

// EventInvolved returns an Event's involvedObject (core/v1 Event).
func EventInvolved(event *unstructured.Unstructured) Involved {
	o := child(event.Object, "involvedObject")
	return Involved{
		Kind:      text(o, "kind"),
		Namespace: text(o, "namespace"),
		Name:      text(o, "name"),
		UID:       text(o, "uid"),
	}
}

// EventReason returns an Event's reason, such as FailedScheduling.
func EventReason(event *unstructured.Unstructured) string {
	return text(event.Object, "reason")
}

// EventMessage returns an Event's message.
func EventMessage(event *unstructured.Unstructured) string {
	return text(event.Object, "message")
}

// EventComponent returns an Event's source.component. If that is empty it returns
// reportingComponent, the only one that events.k8s.io/v1 writes.
func EventComponent(event *unstructured.Unstructured) string {
	if c := text(child(event.Object, "source"), "component"); c != "" {
		return c
	}
	return text(event.Object, "reportingComponent")
}
