package check

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
)

// WellKnownLabels checks that nodes or NodeClaims always have each label that describes their
// instance. Each label is a check of its own, so that a failure names the missing one.
func WellKnownLabels(of Count) []Check {
	var all []Check
	for _, key := range []string{
		karpenter.CapacityTypeLabel, corev1.LabelTopologyZone, corev1.LabelInstanceTypeStable,
		corev1.LabelArchStable, corev1.LabelOSStable,
	} {
		all = append(all, Always(Each(of, "have the label "+key, func(o *unstructured.Unstructured) bool {
			return karpenter.Label(o, key) != ""
		})))
	}
	return all
}
