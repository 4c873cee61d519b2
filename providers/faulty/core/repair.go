package core

import (
	"slices"
	"sync"

	corev1 "k8s.io/api/core/v1"
	kwok "sigs.k8s.io/karpenter/kwok/cloudprovider"
	v1 "sigs.k8s.io/karpenter/pkg/apis/v1"

	"github.com/plumbline-e2e/plumbline/providers/faulty/lie"
)

// repairLies returns the lies about nodes that are unhealthy.
func repairLies() map[string]lie.Lie {
	return map[string]lie.Lie{
		"ignores-vetoes": reads(func(node *corev1.Node) { delete(node.Annotations, v1.DoNotRepairAnnotationKey) }),
		"takes-do-not-disrupt-for-a-veto": reads(func(node *corev1.Node) {
			if node.Annotations[v1.DoNotDisruptAnnotationKey] == "true" {
				node.Annotations[v1.DoNotRepairAnnotationKey] = "true"
			}
		}),
		"repairs-as-if-one-were-ill": reads(hidesAllButOne()),
	}
}

// hidesAllButOne makes unhealthy nodes look healthy, except the first one of each pool.
func hidesAllButOne() func(*corev1.Node) {
	var first sync.Map
	return func(node *corev1.Node) {
		isUnhealthy := func(c corev1.NodeCondition) bool {
			return c.Type == kwok.KWOKUnhealthyCondition && c.Status == corev1.ConditionTrue
		}
		if !slices.ContainsFunc(node.Status.Conditions, isUnhealthy) {
			return
		}
		if one, _ := first.LoadOrStore(node.Labels[v1.NodePoolLabelKey], node.Name); one != node.Name {
			node.Status.Conditions = slices.DeleteFunc(node.Status.Conditions, isUnhealthy)
		}
	}
}
