package session

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/plumbline-e2e/plumbline/e2e/env"
	"github.com/plumbline-e2e/plumbline/e2e/history"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
	"github.com/plumbline-e2e/plumbline/e2e/report"
)

// byTaintManager is the reason in a pod's DisruptionTarget condition after a NoExecute
// eviction.
const byTaintManager = "DeletionByTaintManager"

// doubt makes a failure infra if Kubernetes evicted a pod before it that it shouldn't have. A failure that breaks
// only what is known of the release is no news, whatever came before it, and stays.
func (c *postChecks) doubt(failure *env.Failure, recorded *history.History) *env.Failure {
	if failure == nil || failure.Verdict != report.Failed && failure.Verdict != report.Vacuous {
		return failure
	}
	stray, event := strayEviction(recorded, c.session.Namespace)
	if stray == "" || brokeBefore(failure.Broke, event) || c.work.knows(failure) {
		return failure
	}
	failure.Verdict = report.Infra
	failure.Reason = fmt.Sprintf("Kubernetes evicted %s for a taint that was gone (kubernetes/kubernetes#119862); what "+
		"came of it: %s", stray, failure.Reason)
	return failure
}

// strayEviction returns the first pod that Kubernetes evicted for a taint that its node no longer had,
// or "", and the number of the event that shows it. The taint manager sees nodes with a delay. It may
// evict a pod that comes as the unregistered taint goes
// (https://github.com/kubernetes/kubernetes/issues/119862). That says nothing about the provider.
func strayEviction(h *history.History, namespace string) (pod string, event int) {
	nodes := map[string]*history.Object{}
	for _, node := range h.Start().List(karpenter.Nodes) {
		nodes[node.Name] = node
	}
	for i, e := range h.Events() {
		switch {
		case e.Object == nil:
		case e.Resource == karpenter.Nodes:
			nodes[e.Object.Name] = e.Object
		case e.Resource == karpenter.Pods && e.Object.Namespace == namespace:
			pod := e.Object.Unstructured()
			target, found := karpenter.Condition(pod, string(corev1.DisruptionTarget))
			node := nodes[karpenter.PodNode(pod)]
			if found && target.Reason == byTaintManager && node != nil &&
				!slices.ContainsFunc(karpenter.Taints(node.Unstructured()), noExecute) {
				return fmt.Sprintf("pod %s on node %s", e.Object.Name, node.Name), i
			}
		}
	}
	return "", 0
}

// brokeBefore reports whether something broke before an event. It has nothing to do with what came then.
func brokeBefore(broke []report.Broken, event int) bool {
	return slices.ContainsFunc(broke, func(b report.Broken) bool { return b.Event != nil && *b.Event < event })
}

func noExecute(t corev1.Taint) bool { return t.Effect == corev1.TaintEffectNoExecute }
