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

// Object is one state of one API object. It keeps the bytes as they came and
// decodes them the first time that somebody asks, since most are never asked.
type Object struct {
	Namespace, Name, UID, ResourceVersion string

	raw    json.RawMessage
	once   sync.Once
	parsed *unstructured.Unstructured
}

// NewObject is the object with this JSON. It fails if that is no valid JSON
// object with metadata.name.
func NewObject(raw []byte) (*Object, error) {
	var line bytes.Buffer
	if err := json.Compact(&line, raw); err != nil {
		return nil, fmt.Errorf("not an API object: %w", err)
	}
	return newObject(line.Bytes(), false)
}

// newObject takes over raw, which is on one line. If it is known to be of a
// kind without namespaces, that is found sooner.
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

// String is the object's name, with its namespace if it has one.
func (o *Object) String() string {
	if o.Namespace == "" {
		return o.Name
	}
	return o.Namespace + "/" + o.Name
}

// Raw is the object's JSON as the API server sent it. Read only.
func (o *Object) Raw() json.RawMessage { return o.raw }

// GetName is the object's name: specs hand objects that they have waited for to whatever
// takes a built one.
func (o *Object) GetName() string { return o.Name }

// Unstructured is the object, decoded once and shared: read only. It lacks
// metadata.managedFields, which make up half of the bytes; Raw has them.
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
		// The API server sends no such thing and Load refuses it; what is
		// known of the object is still better than a panic in a check.
		content = map[string]any{"metadata": map[string]any{"namespace": o.Namespace, "name": o.Name, "uid": o.UID}}
	}
	return content
}
