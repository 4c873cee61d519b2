package providers

import (
	"cmp"
	"errors"
	"fmt"
	"maps"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/yaml"

	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
)

// content returns a copy of the object, which it reads from its file if there is
// one. It returns nil if the adapter leaves the object out.
func (a *Adapter) content(o Object) (map[string]any, error) {
	if o.File == "" {
		return runtime.DeepCopyJSON(jsonOf(o.Inline)), nil
	}
	if fromSource(o.File) {
		return nil, errors.New("it must lie beside the adapter, not in the source module")
	}
	raw, err := a.Files("").Read(o.File)
	if err != nil {
		return nil, err
	}
	var object map[string]any
	if err := yaml.UnmarshalStrict(raw, &object); err != nil {
		return nil, fmt.Errorf("%s: %w", o.File, err)
	}
	return jsonOf(object), nil
}

// jsonOf converts numbers to the types that unstructured objects allow, so that an
// adapter in Go may use plain ints.
func jsonOf(m map[string]any) map[string]any {
	if m == nil {
		return nil
	}
	out := maps.Clone(m)
	for key, x := range out {
		out[key] = jsonValue(x)
	}
	return out
}

func jsonValue(x any) any {
	switch x := x.(type) {
	case map[string]any:
		return jsonOf(x)
	case []any:
		out := make([]any, len(x))
		for i := range x {
			out[i] = jsonValue(x[i])
		}
		return out
	case []string:
		out := make([]any, len(x))
		for i := range x {
			out[i] = x[i]
		}
		return out
	case float64:
		if whole := int64(x); float64(whole) == x {
			return whole
		}
		return x
	default:
		return jsonNumber(x)
	}
}

// NodeClassObject returns the adapter's NodeClass with the name given. An empty name
// keeps the adapter's own, or "default". The adapter must be valid.
func (a *Adapter) NodeClassObject(name string) *unstructured.Unstructured {
	content, err := a.content(a.NodeClass)
	if err != nil || content == nil {
		content = map[string]any{}
	}
	o := &unstructured.Unstructured{Object: content}
	o.SetName(cmp.Or(name, o.GetName(), "default"))
	return o
}

// NodeClassGVR returns the resource of the provider's NodeClass. It guesses the plural
// by Kubernetes' rule for English; install.Prepare checks it against the CRDs.
func (a *Adapter) NodeClassGVR() schema.GroupVersionResource {
	plural, _ := meta.UnsafeGuessKindToResource(a.NodeClassObject("").GroupVersionKind())
	return plural
}

// NodePoolTemplate returns the adapter's nodePool with apiVersion and kind. Every
// NodePool of a spec gets from it what the spec leaves out. It has no nodeClassRef:
// the spec creates a NodeClass from NodeClassObject. The adapter must be valid.
func (a *Adapter) NodePoolTemplate() *unstructured.Unstructured {
	return a.template(a.NodePool, "NodePool")
}

// NodeClaimTemplate returns the adapter's nodeClaim with apiVersion and kind. Every
// NodeClaim that no pod asks for gets from it what the spec leaves out; it wins over
// NodePoolTemplate. The adapter must be valid.
func (a *Adapter) NodeClaimTemplate() *unstructured.Unstructured {
	return a.template(a.NodeClaim, "NodeClaim")
}

func (a *Adapter) template(object Object, kind string) *unstructured.Unstructured {
	content, err := a.content(object)
	if err != nil || content == nil {
		content = map[string]any{}
	}
	o := &unstructured.Unstructured{Object: content}
	o.SetGroupVersionKind(karpenter.NodePools.GroupVersion().WithKind(kind))
	return o
}
