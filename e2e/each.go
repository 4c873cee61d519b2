package e2e

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/util/retry"

	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/e2e/history"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
)

// TaintEach puts a taint on every node that is counted, now or later, as soon as
// it is, and again whenever somebody takes it off, until the spec ends: a daemon
// that does so to all that join. That it did is for the spec to claim: a node may
// be gone before.
func (e *Env) TaintEach(ctx context.Context, nodes check.Count, taint corev1.Taint) {
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
				_ = e.taint(ctx, node.Name, taint) // see above
			}
		}
	}()
}

// taint adds a taint to those that a node has.
func (e *Env) taint(ctx context.Context, name string, taint corev1.Taint) error {
	nodes := e.session.client.Resource(karpenter.Nodes)
	return retry.RetryOnConflict(retry.DefaultRetry, func() error {
		node, err := nodes.Get(ctx, name, metav1.GetOptions{})
		if err != nil {
			return err
		}
		taints, _, err := unstructured.NestedSlice(node.Object, "spec", "taints")
		if err != nil || karpenter.HasTaint(node, taint.Key) {
			return err
		}
		taints = append(taints, map[string]any{"key": taint.Key, "value": taint.Value, "effect": string(taint.Effect)})
		if err := unstructured.SetNestedSlice(node.Object, taints, "spec", "taints"); err != nil {
			return err
		}
		_, err = nodes.Update(ctx, node, metav1.UpdateOptions{FieldManager: fieldManager})
		return err
	})
}
