package env

import (
	"context"
	"encoding/json"
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
	"github.com/plumbline-e2e/plumbline/fixtures"
	"github.com/plumbline-e2e/plumbline/providers"
)

// ConvertedNodeClasses returns the adapter's examples of NodeClasses that can be written in a version, v1beta1
// or v1: what they say in it, and what they say in the other one. A field that is null must be absent. No
// example, or a malformed one, fails the spec.
func (e *Env) ConvertedNodeClasses(ctx context.Context, version string) (written, read []fixtures.Object) {
	other := karpenter.V1Beta1
	if version == other {
		other = karpenter.NodeClaims.Version
	}
	examples := e.place.Adapter.Capabilities[providers.NodeClassConversion].NodeClasses
	for _, label := range slices.Sorted(maps.Keys(examples)) {
		example := examples[label]
		if example.Written != "" && example.Written != version {
			continue
		}
		one, err := e.nodeClassIn(version, label, example)
		if err != nil {
			e.fail(ctx, "the adapter's NodeClass %s: %w", label, err)
		}
		counterpart, err := e.nodeClassIn(other, label, example)
		if err != nil {
			e.fail(ctx, "the adapter's NodeClass %s: %w", label, err)
		}
		written, read = append(written, one), append(read, counterpart.Called(one))
	}
	if len(written) == 0 {
		e.Fail("the adapter has no NodeClass that can be written in %s, so nothing is tested", version)
	}
	return written, read
}

// nodeClassIn builds an example of a NodeClass in a version.
func (e *Env) nodeClassIn(version, label string, example providers.NodeClassVersions) (*fixtures.Raw, error) {
	template := e.place.Adapter.NodeClassObject("")
	gvk := template.GroupVersionKind()
	o := fixtures.RawNodeClass(gvk.Group, version, gvk.Kind, label+"-")
	spec, _, _ := unstructured.NestedFieldNoCopy(template.Object, "spec")
	said := mergeDefaults(map[string]any{"spec": spec}, example.Both)
	for part, fields := range mergeDefaults(said, example.In(version)) {
		fields, _ := fields.(map[string]any) // Validate has seen to it
		for field, value := range fields {
			text, err := json.Marshal(value)
			if err != nil {
				return nil, err
			}
			o.Write(part+"."+field, string(text))
		}
	}
	return o, nil
}

// recordedAs returns the resource under which a run records one: NodeClasses are recorded in the version of the
// adapter's.
func (e *Env) recordedAs(resource schema.GroupVersionResource) schema.GroupVersionResource {
	if class := e.place.Adapter.NodeClassGVR(); resource.GroupResource() == class.GroupResource() {
		return class
	}
	return karpenter.RecordedAs(resource)
}
