package history

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"sync"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	utiljson "k8s.io/apimachinery/pkg/util/json"
)

// Object is one state of an API object. It holds the JSON and decodes it on first use, since
// most objects are never decoded.
type Object struct {
	Namespace, Name, UID, ResourceVersion string

	raw    json.RawMessage
	once   sync.Once
	parsed *unstructured.Unstructured
}

// NewObject returns the object with this JSON. It fails for invalid JSON and without
// metadata.name.
func NewObject(raw []byte) (*Object, error) {
	var line bytes.Buffer
	if err := json.Compact(&line, raw); err != nil {
		return nil, fmt.Errorf("not an API object: %w", err)
	}
	return newObject(line.Bytes(), false)
}

// newObject keeps raw, which is on one line. With cluster set, it finds the identity sooner.
func newObject(raw []byte, cluster bool) (*Object, error) {
	m, err := scanMeta(raw, cluster)
	if err != nil {
		return nil, err
	}
	if m.Name == "" {
		return nil, errors.New("not an API object: metadata.name is missing")
	}
	return &Object{Namespace: m.Namespace, Name: m.Name, UID: m.UID, ResourceVersion: m.ResourceVersion, raw: raw}, nil
}

// String returns the object's name, after its namespace if it has one.
func (o *Object) String() string {
	if o.Namespace == "" {
		return o.Name
	}
	return o.Namespace + "/" + o.Name
}

// Raw returns the object's JSON as the API server sent it. Read only.
func (o *Object) Raw() json.RawMessage { return o.raw }

// GetName returns the object's name, so that functions take it like a built object.
func (o *Object) GetName() string { return o.Name }

// Unstructured returns the object, decoded once and shared: read only. It lacks
// metadata.managedFields, which are half of the bytes; Raw has them.
func (o *Object) Unstructured() *unstructured.Unstructured {
	o.once.Do(func() { o.parsed = &unstructured.Unstructured{Object: o.content()} })
	return o.parsed
}

func (o *Object) content() map[string]any {
	raw := withoutManagedFields(o.raw)
	if content, ok := decode(string(raw)); ok {
		return content
	}
	content := map[string]any{}
	if err := utiljson.Unmarshal(raw, &content); err != nil {
		// Load rejects such JSON. The identity is still better than a panic in a check.
		content = map[string]any{"metadata": map[string]any{"namespace": o.Namespace, "name": o.Name, "uid": o.UID}}
	}
	return content
}
