package explain

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
)

// ofPod tells what an event means for a pod.
func (t *teller) ofPod(m moment) {
	switch {
	case m.Resource == karpenter.Events:
		if about := karpenter.EventInvolved(m.is); about.Kind == "Pod" && about.Name == t.pod {
			t.heard(m)
		}
	case m.Resource == karpenter.Pods && m.Object.Name == t.pod:
		t.podLife(m)
	case m.Resource == karpenter.Nodes && m.Object.Name == t.node && m.was != nil:
		if karpenter.HasTaint(m.is, karpenter.DisruptedTaint) && !karpenter.HasTaint(m.was, karpenter.DisruptedTaint) {
			t.say(m, "Its node %s is disrupted; make explain NODE=%s tells why.", t.node, t.node)
		}
	}
}

func (t *teller) podLife(m moment) {
	switch {
	case m.Type == watch.Added:
		t.say(m, "Pod %s is made.", t.pod)
	case m.Type == watch.Deleted:
		t.say(m, "The pod is gone.")
		return
	}
	if node := karpenter.PodNode(m.is); node != "" && node != t.node {
		t.node = node
		if nodeClaim := t.nodeClaimOf(node); nodeClaim != nil {
			t.say(m, "It is bound to node %s, of NodeClaim %s.", node, nodeClaim.GetName())
		} else {
			t.say(m, "It is bound to node %s, which isn't Karpenter's.", node)
		}
	}
	if karpenter.PodReady(m.is) && (m.was == nil || !karpenter.PodReady(m.was)) {
		t.say(m, "It is ready.")
	}
	evicted := string(corev1.DisruptionTarget)
	if m.became(evicted) {
		why, _ := karpenter.Condition(m.is, evicted)
		t.say(m, "It is told to go: %s (%s).", why.Reason, why.Message)
	}
	if m.marked() {
		t.say(m, "It is being deleted.")
	}
}
