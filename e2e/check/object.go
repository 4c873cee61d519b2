package check

import (
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
)

// Object is anything with a kind and a name: builders of package fixtures, and recorded
// objects.
type Object interface {
	Named
	Unstructured() *unstructured.Unstructured
}

// The counts one object, or several of one kind, by name. It ignores the namespace: only the
// spec's namespace has objects of these names.
func The(object Object, more ...Object) Count {
	kind := object.Unstructured().GroupVersionKind()
	resource, _ := meta.UnsafeGuessKindToResource(kind)
	if kind.Kind == "NodeOverlay" {
		resource = karpenter.NodeOverlays // the guess is "nodeoverlaies"
	}
	resource = karpenter.RecordedAs(resource)
	names := []string{object.GetName()}
	for _, o := range more {
		names = append(names, o.GetName())
	}
	words := kind.Kind + "s called "
	if strings.HasSuffix(kind.Kind, "ss") {
		words = kind.Kind + "es called "
	}
	words += strings.Join(names, ", ")
	return Where(words, resource, func(o *unstructured.Unstructured) bool { return slices.Contains(names, o.GetName()) })
}
