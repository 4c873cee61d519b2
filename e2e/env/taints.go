package env

import (
	"context"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/util/retry"

	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/e2e/history"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
)

// RemoveTaint removes the taints with a key from nodes, as an agent does once it has started.
func (e *Env) RemoveTaint(ctx context.Context, key string, nodes ...*history.Object) {
	for _, node := range nodes {
		if err := e.removeTaint(ctx, node.Name, key); err != nil {
			e.fail(ctx, "removing the taint %s of node %s: %v", key, node.Name, err)
		}
	}
}

// KeepTainted adds a taint to every node that is counted now or later, and again whenever it
// is removed, until the spec ends. A daemon may do that to all nodes that join. The spec must
// check that it worked: a node may be gone before.
func (e *Env) KeepTainted(ctx context.Context, nodes check.Count, taint corev1.Taint) {
	untainted := nodes.With("without the taint "+taint.Key, check.Tainted(taint.Key).Not())
	e.toEach(ctx, untainted, func(node *history.Object) { _ = e.addTaint(ctx, node.Name, taint) })
}

// KeepUntainted removes the taints with a key from every node that is counted now or later, until
// the spec ends, as an agent does that starts on all nodes. The spec must check that it worked.
func (e *Env) KeepUntainted(ctx context.Context, nodes check.Count, key string) {
	tainted := nodes.With("with the taint "+key, check.Tainted(key))
	e.toEach(ctx, tainted, func(node *history.Object) { _ = e.removeTaint(ctx, node.Name, key) })
}

// toEach does something to every object that is counted, and in the background to those that come, until ctx ends. It
// tries once for each version of an object: after an error only a new version is tried.
func (e *Env) toEach(ctx context.Context, objects check.Count, do func(*history.Object)) {
	tried := map[string]bool{} // by UID and version
	var next []*history.Object
	another := func(w *history.World) bool {
		next = slices.DeleteFunc(objects.Of(w), func(o *history.Object) bool { return tried[o.UID+o.ResourceVersion] })
		return len(next) > 0
	}
	doNext := func() {
		for _, o := range next {
			tried[o.UID+o.ResourceVersion] = true
			do(o)
		}
	}
	if another(e.World()) {
		doNext()
	}
	recorder := e.recorder
	go func() {
		// Where waits are cut short, one that ends may find none. Another would, too, without a pause.
		for recorder.Await(ctx, another) == nil && len(next) > 0 {
			doNext()
		}
	}()
}

// addTaint adds a taint to a node, unless it has one with the same key.
func (e *Env) addTaint(ctx context.Context, node string, taint corev1.Taint) error {
	return e.changeTaints(ctx, node, func(taints []any) []any {
		if slices.ContainsFunc(taints, func(t any) bool { return t.(map[string]any)["key"] == taint.Key }) {
			return taints
		}
		return append(taints, map[string]any{"key": taint.Key, "value": taint.Value, "effect": string(taint.Effect)})
	})
}

// removeTaint removes the taints with a key from a node.
func (e *Env) removeTaint(ctx context.Context, node, key string) error {
	return e.changeTaints(ctx, node, func(taints []any) []any {
		return slices.DeleteFunc(taints, func(t any) bool { return t.(map[string]any)["key"] == key })
	})
}

// changeTaints changes the taints of a node. It retries on conflicts.
func (e *Env) changeTaints(ctx context.Context, node string, change func([]any) []any) error {
	nodes := e.place.Client.Resource(karpenter.Nodes)
	return retry.RetryOnConflict(retry.DefaultRetry, func() error {
		now, err := nodes.Get(ctx, node, metav1.GetOptions{})
		if err != nil {
			return err
		}
		taints, _, err := unstructured.NestedSlice(now.Object, "spec", "taints")
		if err != nil {
			return err
		}
		if err := unstructured.SetNestedSlice(now.Object, change(taints), "spec", "taints"); err != nil {
			return err
		}
		_, err = nodes.Update(ctx, now, metav1.UpdateOptions{FieldManager: fieldManager})
		return err
	})
}
