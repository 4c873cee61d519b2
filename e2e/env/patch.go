package env

import (
	"context"
	"encoding/json"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/plumbline-e2e/plumbline/fixtures"
)

// Patch applies a JSON merge patch, as another client would, to an object of the spec or from
// Await.
func (e *Env) Patch(ctx context.Context, object fixtures.Object, patch string) {
	e.patch(ctx, object, patch)
}

// PatchStatus patches an object's status, as a kubelet or another controller would.
func (e *Env) PatchStatus(ctx context.Context, object fixtures.Object, patch string) {
	e.patch(ctx, object, patch, "status")
}

// EndPod says that a pod has finished, as its kubelet does.
func (e *Env) EndPod(ctx context.Context, pod fixtures.Object) {
	e.PatchStatus(ctx, pod, `{"status":{"phase":"Succeeded"}}`)
}

// Resize asks for another number of CPUs for the first container of a running pod, in place, as a VerticalPodAutoscaler
// does. Its kubelet does so later, if at all: see Resized.
func (e *Env) Resize(ctx context.Context, pod fixtures.Object, cpus string) {
	e.patch(ctx, pod, fixtures.RequestedCPUs(pod.Unstructured(), cpus), "resize")
}

// Resized says, as its kubelet does, how many CPUs the first container of a running pod holds.
func (e *Env) Resized(ctx context.Context, pod fixtures.Object, cpus string) {
	e.PatchStatus(ctx, pod, fixtures.HeldCPUs(pod.Unstructured(), cpus))
}

// Annotate sets an annotation, as `kubectl annotate` does.
func (e *Env) Annotate(ctx context.Context, object fixtures.Object, key, value string) {
	e.annotate(ctx, object, key, value)
}

// AnnotateEach sets an annotation of several objects.
func (e *Env) AnnotateEach(ctx context.Context, key, value string, objects ...fixtures.Object) {
	for _, object := range objects {
		e.annotate(ctx, object, key, value)
	}
}

// RemoveAnnotation removes an annotation from an object.
func (e *Env) RemoveAnnotation(ctx context.Context, object fixtures.Object, key string) {
	e.annotate(ctx, object, key, nil)
}

// RemoveFinalizers removes all finalizers from an object, such as a lingering pod.
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
		_, err = e.resourceInterface(ref).Patch(ctx, ref.name, types.MergePatchType, []byte(patch),
			metav1.PatchOptions{FieldManager: fieldManager, FieldValidation: metav1.FieldValidationStrict}, subresources...)
	}
	if err != nil {
		e.fail(ctx, "patching %s: %v", strings.Join(append([]string{ref.String()}, subresources...), ", its "), err)
	}
}
