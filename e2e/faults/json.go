package faults

import (
	"encoding/json"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// message is a fault on its way to a proxy in a pod.
type message struct {
	Kind        kind                 `json:"kind"`
	Verbs       []string             `json:"verbs,omitempty"`
	Resource    schema.GroupResource `json:"resource"`
	Subresource string               `json:"subresource,omitempty"`
	Name        string               `json:"name,omitempty"`
	Field       string               `json:"field,omitempty"`
	First       int                  `json:"first,omitempty"`
	Refusal     *metav1.Status       `json:"refusal,omitempty"`
	After       time.Duration        `json:"after,omitempty"`
	Times       int                  `json:"times,omitempty"`
}

// MarshalJSON returns the fault as JSON, for the same version of this package.
func (f Fault) MarshalJSON() ([]byte, error) {
	m := message{
		Kind: f.kind, Verbs: f.on.verbs, Resource: f.on.resource, Subresource: f.on.subresource, Name: f.on.name,
		Field: f.on.field, First: f.on.first, After: f.after, Times: f.times,
	}
	if f.refusal != nil {
		m.Refusal = &f.refusal.ErrStatus
	}
	return json.Marshal(m)
}

// UnmarshalJSON reads what MarshalJSON returns.
func (f *Fault) UnmarshalJSON(data []byte) error {
	var m message
	if err := json.Unmarshal(data, &m); err != nil {
		return err
	}
	*f = Fault{kind: m.Kind, after: m.After, times: m.Times, on: Requests{
		verbs: m.Verbs, resource: m.Resource, subresource: m.Subresource, name: m.Name, field: m.Field, first: m.First,
	}}
	if m.Refusal != nil {
		f.refusal = &apierrors.StatusError{ErrStatus: *m.Refusal}
	}
	return nil
}
