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

// RemoveTaint takes the taints of a key off nodes, as an agent does when what it is there
// for has started. The nodes' other taints stay.
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

// KeepTainted puts a taint on every node that is counted, now or later, as soon as
// it is, and again whenever somebody takes it off, until the spec ends: a daemon
// that does so to all that join. That it did is for the spec to claim: a node may
// be gone before.
func (e *Env) KeepTainted(ctx context.Context, nodes check.Count, taint corev1.Taint) {
	tried := map[string]bool{} // by UID and version: what is refused may do for the next
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
				_ = e.addTaint(ctx, node.Name, taint) // see above
			}
		}
	}()
}

// addTaint adds a taint to those that a node has, unless it has one of the same key.
func (e *Env) addTaint(ctx context.Context, node string, taint corev1.Taint) error {
	return e.changeTaints(ctx, node, func(taints []any) []any {
		if slices.ContainsFunc(taints, func(t any) bool { return t.(map[string]any)["key"] == taint.Key }) {
			return taints
		}
		return append(taints, map[string]any{"key": taint.Key, "value": taint.Value, "effect": string(taint.Effect)})
	})
}

// changeTaints changes the taints of a node, whoever else writes to it.
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
