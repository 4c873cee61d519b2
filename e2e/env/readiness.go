package env

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
)

// saysReadiness reports whether Ready is True or False for this generation of a NodePool or a
// later one. Karpenter takes a condition of an older generation as Unknown. Releases before
// 1.1 write no observedGeneration and compare none; there the condition counts as it is.
func saysReadiness(pool *unstructured.Unstructured, generation int64) bool {
	ready, found := karpenter.Condition(pool, karpenter.Ready)
	if !found || ready.Status == metav1.ConditionUnknown || pool.GetGeneration() < generation {
		return false
	}
	return ready.ObservedGeneration == 0 || ready.ObservedGeneration == pool.GetGeneration()
}
