package env

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/plumbline-e2e/plumbline/e2e/history"
	"github.com/plumbline-e2e/plumbline/fixtures"
)

// Try creates or changes objects as Create does. It returns the API server's error about the first that is not valid.
func (e *Env) Try(ctx context.Context, objects ...fixtures.Object) error {
	for _, object := range objects {
		if o, err := e.ask(ctx, object); err != nil && invalid(err) {
			return fmt.Errorf("%s: %w", called(o), err)
		}
		e.Create(ctx, object)
	}
	return nil
}

// Remove deletes objects that may be gone already. It does not wait for their finalizers.
func (e *Env) Remove(ctx context.Context, objects ...fixtures.Object) {
	e.removeAll(ctx, metav1.DeletePropagationBackground, objects)
}

// RemoveInForeground is DeleteInForeground for objects that may be gone already.
func (e *Env) RemoveInForeground(ctx context.Context, objects ...fixtures.Object) {
	e.needForeground(ctx)
	e.removeAll(ctx, metav1.DeletePropagationForeground, objects)
}

func (e *Env) removeAll(ctx context.Context, policy metav1.DeletionPropagation, objects []fixtures.Object) {
	for _, object := range objects {
		ref, err := e.refer(object.Unstructured())
		if err == nil {
			err = e.remove(ctx, ref, policy)
		}
		if err != nil {
			e.fail(ctx, "%w", err)
		}
	}
}

// Taint adds a taint to a node, as `kubectl taint` does, unless it has one with the same key.
func (e *Env) Taint(ctx context.Context, node *history.Object, taint corev1.Taint) {
	if err := e.addTaint(ctx, node.Name, taint); err != nil {
		e.fail(ctx, "tainting node %s: %w", node.Name, err)
	}
}

// ExpectInvariants says that the spec claims nothing of its own: the invariants judge it.
func (e *Env) ExpectInvariants() { e.claim("what happens breaks no invariant") }

// Note adds a remark to the spec's outcome.
func (e *Env) Note(format string, args ...any) {
	e.result.Notes = append(e.result.Notes, fmt.Sprintf(format, args...))
}
