package env

import (
	"testing"

	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/yaml"
)

func TestPodsKeepToOurNodes(t *testing.T) {
	ours := corev1.NodeSelectorRequirement{Key: "karpenter.sh/capacity-type", Operator: "Exists"}
	zone := func(z string) corev1.NodeSelectorRequirement {
		return corev1.NodeSelectorRequirement{Key: "zone", Operator: "In", Values: []string{z}}
	}
	for _, c := range []struct {
		name, object string
		terms        [][]corev1.NodeSelectorRequirement
		path         []string
	}{
		{
			"a pod", "{kind: Pod, spec: {containers: [{name: c}]}}",
			[][]corev1.NodeSelectorRequirement{{ours}},
			[]string{"spec"},
		},
		{
			"each of ORed terms",
			`{kind: Pod, spec: {containers: [{name: c}], affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: [
				{matchExpressions: [{key: zone, operator: In, values: [one]}]}, {matchExpressions: [{key: zone, operator: In, values: [two]}]}]}}}}}`,
			[][]corev1.NodeSelectorRequirement{{zone("one"), ours}, {zone("two"), ours}},
			[]string{"spec"},
		},
		{
			"a template", "{kind: Deployment, spec: {template: {spec: {containers: [{name: c}]}}}}",
			[][]corev1.NodeSelectorRequirement{{ours}},
			[]string{"spec", "template", "spec"},
		},
		{"a pod that has its node", "{kind: Pod, spec: {nodeName: fake, containers: [{name: c}]}}", nil, []string{"spec"}},
		{
			"a NodePool", "{kind: NodePool, spec: {template: {spec: {requirements: []}}}}", nil,
			[]string{"spec", "template", "spec"},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			g := NewWithT(t)
			o := &unstructured.Unstructured{}
			g.Expect(yaml.Unmarshal([]byte(c.object), &o.Object)).To(Succeed())
			g.Expect(requireKarpenterNode(o)).To(Succeed())
			content, _, _ := unstructured.NestedMap(o.Object, c.path...)
			var spec corev1.PodSpec
			g.Expect(runtime.DefaultUnstructuredConverter.FromUnstructured(content, &spec)).To(Succeed())
			var terms [][]corev1.NodeSelectorRequirement
			if a := spec.Affinity; a != nil {
				for _, term := range a.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution.NodeSelectorTerms {
					terms = append(terms, term.MatchExpressions)
				}
			}
			g.Expect(terms).To(Equal(c.terms))
		})
	}
}
