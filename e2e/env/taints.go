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
		err := e.changeTaints(ctx, node.Name, func(taints []any) []any {
			return slices.DeleteFunc(taints, func(t any) bool { return t.(map[string]any)["key"] == key })
		})
		if err != nil {
			e.fail(ctx, "removing the taint %s of node %s: %v", key, node.Name, err)
		}
	}
}

// KeepTainted adds a taint to every node that is counted now or later, and again whenever it
// is removed, until the spec ends. A daemon may do that to all nodes that join. The spec must
// check that it worked: a node may be gone before.
func (e *Env) KeepTainted(ctx context.Context, nodes check.Count, taint corev1.Taint) {
	tried := map[string]bool{} // by UID and version: after an error only a new version is tried
	var next []*history.Object
	another := func(w *history.World) bool {
		next = nil
		for _, o := range nodes.Of(w) {
			if !karpenter.HasTaint(o.Unstructured(), taint.Key) && !tried[o.UID+o.ResourceVersion] {
				next = append(next, o)
			}
		}
		return len(next) > 0
	}
	recorder := e.recorder
	go func() {
		for recorder.Await(ctx, another) == nil && ctx.Err() == nil {
			for _, node := range next {
				tried[node.UID+node.ResourceVersion] = true
				_ = e.addTaint(ctx, node.Name, taint) // the spec must check that it worked
			}
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
