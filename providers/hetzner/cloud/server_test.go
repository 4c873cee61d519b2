package cloud

import (
	"testing"

	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

func TestAMachineConfigMakesTheNode(t *testing.T) {
	g := NewWithT(t)
	s := &server{name: "n1", id: 7, location: "fsn1", kind: serverTypes()[0], userData: `
machine:
  nodeLabels: {a: b}
  nodeTaints: {karpenter.sh/unregistered: ":NoExecute"}`}
	n, err := s.Node()
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(n.ProviderID).To(Equal("hcloud://7"))
	g.Expect(n.Labels).To(HaveKeyWithValue("a", "b"))
	g.Expect(n.Labels).To(HaveKeyWithValue(corev1.LabelTopologyZone, "fsn1-dc14"))
	g.Expect(n.Taints).To(ConsistOf(corev1.Taint{Key: "karpenter.sh/unregistered", Effect: corev1.TaintEffectNoExecute}))
	g.Expect(n.Allocatable[corev1.ResourceMemory].Equal(resource.MustParse("1895142400"))).To(BeTrue(),
		"2 GB less what the kubelet keeps: %v", n.Allocatable.Memory())

	s.userData = "#!/bin/sh"
	_, err = s.Node()
	g.Expect(err).To(MatchError(ContainSubstring("no machine config")))
}
