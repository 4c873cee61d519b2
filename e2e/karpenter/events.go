package karpenter

import "k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

// Involved is the object that a Kubernetes Event is about.
type Involved struct{ Kind, Namespace, Name, UID string }

// EventInvolved is the object that an Event is about (core/v1 Event,
// involvedObject).
func EventInvolved(event *unstructured.Unstructured) Involved {
	o := child(event.Object, "involvedObject")
	return Involved{
		Kind:      text(o, "kind"),
		Namespace: text(o, "namespace"),
		Name:      text(o, "name"),
		UID:       text(o, "uid"),
	}
}

// EventReason is an Event's reason, such as FailedScheduling.
func EventReason(event *unstructured.Unstructured) string {
	return text(event.Object, "reason")
}

// EventMessage is an Event's message.
func EventMessage(event *unstructured.Unstructured) string {
	return text(event.Object, "message")
}

// EventComponent is who reported an Event: source.component, or
// reportingComponent where that is empty (events.k8s.io/v1 writes only it).
func EventComponent(event *unstructured.Unstructured) string {
	if c := text(child(event.Object, "source"), "component"); c != "" {
		return c
	}
	return text(event.Object, "reportingComponent")
}
