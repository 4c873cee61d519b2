package core

import (
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	v1 "sigs.k8s.io/karpenter/pkg/apis/v1"
	podutils "sigs.k8s.io/karpenter/pkg/utils/pod"
	"sigs.k8s.io/karpenter/pkg/utils/resources"

	"github.com/plumbline-e2e/plumbline/providers/faulty/lie"
)

// schedulingLies returns the lies about which pods get nodes, and from which pool. Most lies
// about pods end after a few seconds, and core then corrects its mistake. So a spec sees the
// mistake itself, and not only a pod that waits until the timeout.
func schedulingLies() map[string]lie.Lie {
	return map[string]lie.Lie{
		"ignores-weights": reads(func(pool *v1.NodePool) { pool.Spec.Weight = nil }, provisioning),
		"ignores-limits":  reads(func(pool *v1.NodePool) { pool.Spec.Limits = nil }, provisioning),
		"ignores-limits-of-nodes": reads(func(pool *v1.NodePool) {
			delete(pool.Spec.Limits, resources.Node)
		}, provisioning),
		"forgets-starting-nodes": reads(func(claim *v1.NodeClaim) { claim.Spec.StartupTaints = nil }, remembering),
		"takes-starting-nodes-for-larger": reads(func(node *corev1.Node) {
			cpu, has := node.Status.Allocatable[corev1.ResourceCPU]
			if has && node.Labels[v1.NodeInitializedLabelKey] != "true" {
				cpu.Mul(4)
				node.Status.Allocatable[corev1.ResourceCPU] = cpu
			}
		}, rememberingNodes),

		"overlooks-requests-at-first":  atFirst(func(pod *corev1.Pod) { pod.Spec.Containers[0].Resources.Requests = nil }),
		"overlooks-selectors-at-first": atFirst(func(pod *corev1.Pod) { pod.Spec.NodeSelector = nil }),
		"takes-selectors-for-exclusions": atFirst(func(pod *corev1.Pod) {
			for key, value := range pod.Spec.NodeSelector {
				pod.Spec.Affinity = avoiding(key, value)
			}
			pod.Spec.NodeSelector = nil
		}),
		"takes-exclusions-for-selections": atFirst(func(pod *corev1.Pod) {
			for _, r := range required(pod) {
				if r.Operator == corev1.NodeSelectorOpNotIn {
					r.Operator = corev1.NodeSelectorOpIn
				}
			}
		}),
		"reports-pods-that-avoid-it": reads(func(pod *corev1.Pod) {
			for _, r := range required(pod) {
				if r.Key == v1.NodePoolLabelKey && r.Operator == corev1.NodeSelectorOpDoesNotExist {
					r.Operator, r.Values = corev1.NodeSelectorOpIn, []string{"none"}
				}
			}
		}, provisioning),
		"gives-each-pod-a-node": reads(func(pod *corev1.Pod) {
			pod.Spec.Containers[0].Ports = []corev1.ContainerPort{{HostPort: 1, Protocol: corev1.ProtocolTCP}}
		}, provisioning),
		"forgets-chosen-labels": writes(func(claim *v1.NodeClaim) {
			for _, r := range claim.Spec.Requirements {
				if len(r.Values) > 1 {
					delete(claim.Labels, r.Key)
				}
			}
		}, provisioning),
		"overlooks-pods-that-come-again": reads(comingAgain(), provisioning),
	}
}

// comingAgain returns a change that lets a pod fit nowhere if it waits for a node and its owner's
// first pod is over ten seconds older.
func comingAgain() func(*corev1.Pod) {
	const later = 10 * time.Second
	var first sync.Map // when the first pod was made, by the owner's UID
	return func(pod *corev1.Pod) {
		owner := metav1.GetControllerOf(pod)
		if owner == nil || !podutils.FailedToSchedule(pod) {
			return
		}
		at, _ := first.LoadOrStore(owner.UID, pod.CreationTimestamp.Time)
		if pod.CreationTimestamp.Sub(at.(time.Time)) > later {
			pod.Spec.NodeSelector = map[string]string{"nowhere": ""}
		}
	}
}

// atFirst returns a lie that changes pods that wait for a node, in their first seconds. Core
// reads them at once, and again after ten seconds.
func atFirst(change func(*corev1.Pod)) lie.Lie {
	changed := initially(change)
	return reads(func(pod *corev1.Pod) {
		if podutils.FailedToSchedule(pod) { // else core does not consider it yet
			changed(pod)
		}
	}, provisioning)
}

// firstSight returns a lie that changes an object for the named controllers, in the seconds
// after one of them first reads it.
func firstSight[T client.Object](change func(T), by ...string) lie.Lie {
	return reads(initially(change), by...)
}

// initially limits a change to the first five seconds after the first call for an object.
func initially[T client.Object](change func(T)) func(T) {
	const while = 5 * time.Second
	var seen sync.Map
	return func(o T) {
		if first, _ := seen.LoadOrStore(o.GetUID(), time.Now()); time.Since(first.(time.Time)) < while {
			change(o)
		}
	}
}

// required returns the expressions of a pod's required node affinity.
func required(pod *corev1.Pod) []*corev1.NodeSelectorRequirement {
	if pod.Spec.Affinity == nil || pod.Spec.Affinity.NodeAffinity == nil {
		return nil
	}
	var all []*corev1.NodeSelectorRequirement
	if selector := pod.Spec.Affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution; selector != nil {
		for i := range selector.NodeSelectorTerms {
			for j := range selector.NodeSelectorTerms[i].MatchExpressions {
				all = append(all, &selector.NodeSelectorTerms[i].MatchExpressions[j])
			}
		}
	}
	return all
}

// avoiding returns a node affinity that excludes nodes with a label.
func avoiding(key, value string) *corev1.Affinity {
	return &corev1.Affinity{NodeAffinity: &corev1.NodeAffinity{
		RequiredDuringSchedulingIgnoredDuringExecution: &corev1.NodeSelector{
			NodeSelectorTerms: []corev1.NodeSelectorTerm{{
				MatchExpressions: []corev1.NodeSelectorRequirement{{
					Key: key, Operator: corev1.NodeSelectorOpNotIn,
					Values: []string{value},
				}},
			}},
		},
	}}
}
