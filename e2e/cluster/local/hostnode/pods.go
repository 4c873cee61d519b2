package hostnode

import (
	"context"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"
)

// watchPods watches the pods that are bound to the node, until it is closed.
func (n *Node) watchPods() {
	mine := fields.OneTermEqualSelector("spec.nodeName", Name).String()
	pods := n.client.CoreV1().Pods(metav1.NamespaceAll)
	_, controller := cache.NewInformerWithOptions(cache.InformerOptions{
		ListerWatcher: cache.ToListWatcherWithWatchListSemantics(&cache.ListWatch{
			ListWithContextFunc: func(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) {
				o.FieldSelector = mine
				return pods.List(ctx, o)
			},
			WatchFuncWithContext: func(ctx context.Context, o metav1.ListOptions) (watch.Interface, error) {
				o.FieldSelector = mine
				return pods.Watch(ctx, o)
			},
		}, n.client),
		ObjectType: &corev1.Pod{},
		Handler: cache.ResourceEventHandlerFuncs{
			AddFunc:    n.syncPod,
			UpdateFunc: func(_, latest any) { n.syncPod(latest) },
			DeleteFunc: n.podRemoved,
		},
	})
	controller.RunWithContext(n.ctx)
}

// syncPod starts a new pod, or updates a known one.
func (n *Node) syncPod(o any) {
	latest, ok := o.(*corev1.Pod)
	if !ok || latest.Spec.NodeName != Name {
		return
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	if known, ok := n.pods[latest.UID]; ok {
		known.update(latest)
		return
	}
	ended := latest.Status.Phase == corev1.PodSucceeded || latest.Status.Phase == corev1.PodFailed
	if n.ctx.Err() != nil || ended && latest.DeletionTimestamp == nil {
		return
	}
	p := newPod(n, latest)
	n.pods[latest.UID] = p
	n.work.Go(p.run)
}

// podRemoved ends a pod that was removed from the API without this node.
func (n *Node) podRemoved(o any) {
	if gone, ok := o.(cache.DeletedFinalStateUnknown); ok {
		o = gone.Obj
	}
	latest, ok := o.(*corev1.Pod)
	if !ok {
		return
	}
	n.mu.Lock()
	p := n.pods[latest.UID]
	delete(n.pods, latest.UID)
	n.mu.Unlock()
	if p != nil {
		p.terminate(time.Second)
	}
}
