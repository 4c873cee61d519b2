package session

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/plumbline-e2e/plumbline/e2e/history"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
)

// byTaintManager is the reason of a pod's condition DisruptionTarget when
// Kubernetes evicts it for a taint with the effect NoExecute.
const byTaintManager = "DeletionByTaintManager"

// strayEviction names a pod that Kubernetes itself evicted for a taint which its
// node didn't have any more; "" if there was none. The taint manager looks at
// nodes as they were a moment ago, so that a pod which comes as the unregistered
// taint goes may be evicted (https://github.com/kubernetes/kubernetes/issues/119862).
// Nothing can be said of the provider then.
func strayEviction(h *history.History, namespace string) string {
	nodes := map[string]*history.Object{}
	for _, node := range h.Start().List(karpenter.Nodes) {
		nodes[node.Name] = node
	}
	for _, e := range h.Events() {
		switch {
		case e.Object == nil:
		case e.Resource == karpenter.Nodes:
			nodes[e.Object.Name] = e.Object
		case e.Resource == karpenter.Pods && e.Object.Namespace == namespace:
			pod := e.Object.Unstructured()
			target, found := karpenter.Condition(pod, string(corev1.DisruptionTarget))
			node := nodes[karpenter.PodNode(pod)]
			if found && target.Reason == byTaintManager && node != nil && !slices.ContainsFunc(karpenter.Taints(node.Unstructured()), noExecute) {
				return fmt.Sprintf("pod %s on node %s", e.Object.Name, node.Name)
			}
		}
	}
	return ""
}

func noExecute(t corev1.Taint) bool { return t.Effect == corev1.TaintEffectNoExecute }
