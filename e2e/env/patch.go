package env

import (
	"context"
	"encoding/json"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/plumbline-e2e/plumbline/fixtures"
)

// Patch applies a JSON merge patch to an object, as an outsider would: to one that the spec
// has built, or that Await has returned.
func (e *Env) Patch(ctx context.Context, object fixtures.Object, patch string) {
	e.patch(ctx, object, patch)
}

// PatchStatus is Patch for an object's status: what a kubelet, or a controller
// beside the provider, would say there.
func (e *Env) PatchStatus(ctx context.Context, object fixtures.Object, patch string) {
	e.patch(ctx, object, patch, "status")
}

// Annotate gives an object an annotation, as `kubectl annotate` does.
func (e *Env) Annotate(ctx context.Context, object fixtures.Object, key, value string) {
	e.annotate(ctx, object, key, value)
}

// RemoveAnnotation takes an annotation off an object.
func (e *Env) RemoveAnnotation(ctx context.Context, object fixtures.Object, key string) {
	e.annotate(ctx, object, key, nil)
}

// RemoveFinalizers takes all finalizers off an object, such as a pod that was made to linger.
func (e *Env) RemoveFinalizers(ctx context.Context, object fixtures.Object) {
	e.patch(ctx, object, `{"metadata":{"finalizers":null}}`)
}

func (e *Env) annotate(ctx context.Context, object fixtures.Object, key string, value any) {
	patch, err := json.Marshal(map[string]any{"metadata": map[string]any{"annotations": map[string]any{key: value}}})
	if err != nil {
		e.fail(ctx, "annotating %s: %w", object.GetName(), err)
	}
	e.patch(ctx, object, string(patch))
}

func (e *Env) patch(ctx context.Context, object fixtures.Object, patch string, subresources ...string) {
	ref, err := e.refer(object.Unstructured())
	if err == nil {
		_, err = e.at(ref).Patch(ctx, ref.name, types.MergePatchType, []byte(patch),
			metav1.PatchOptions{FieldManager: fieldManager, FieldValidation: metav1.FieldValidationStrict}, subresources...)
	}
	if err != nil {
		e.fail(ctx, "patching %s: %v", strings.Join(append([]string{ref.String()}, subresources...), ", its "), err)
	}
}
