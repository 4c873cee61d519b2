package cloud

import (
	"encoding/base64"
	"testing"

	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
)

// userData is karpenter-provider-aws v1.14.3's user data for Amazon Linux 2023, shortened.
const userData = `MIME-Version: 1.0
Content-Type: multipart/mixed; boundary="//"

--//
Content-Type: text/x-shellscript; charset="us-ascii"

echo hello
--//
Content-Type: application/node.eks.aws

# Karpenter Generated NodeConfig
apiVersion: node.eks.aws/v1alpha1
kind: NodeConfig
spec:
  cluster: {name: plumbline}
  kubelet:
    config:
      maxPods: 29
      registerWithTaints:
      - {effect: NoExecute, key: karpenter.sh/unregistered}
      systemReserved: {memory: 100Mi}
    flags:
    - --node-labels="karpenter.sh/capacity-type=spot,karpenter.sh/nodepool=default"

--//--
`

func TestAnInstanceJoinsAsItsUserDataSays(t *testing.T) {
	g := NewWithT(t)
	c := region(t)
	i := &Instance{
		ID: "i-1", Type: c.typeNamed("g4dn.xlarge"), IP: "10.0.0.1", cloud: c,
		Subnet:   Subnet{Zone: Zone{Name: "us-east-1a", ID: "use1-az1"}},
		UserData: base64.StdEncoding.EncodeToString([]byte(userData)),
	}
	n, err := i.Node()
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(n.Name).To(Equal("ip-10-0-0-1.ec2.internal"))
	g.Expect(n.ProviderID).To(Equal("aws:///us-east-1a/i-1"))
	g.Expect(n.Taints).To(Equal([]corev1.Taint{{Key: "karpenter.sh/unregistered", Effect: corev1.TaintEffectNoExecute}}))
	g.Expect(n.Labels).To(Equal(map[string]string{
		"karpenter.sh/capacity-type": "spot", "karpenter.sh/nodepool": "default", "kubernetes.io/hostname": n.Name,
		"kubernetes.io/os":   "linux",
		"kubernetes.io/arch": "amd64", "node.kubernetes.io/instance-type": "g4dn.xlarge",
		"topology.kubernetes.io/zone":   "us-east-1a",
		"topology.kubernetes.io/region": "us-east-1", "topology.k8s.aws/zone-id": "use1-az1",
	}))
	amount := func(l corev1.ResourceList, name string) string { q := l[corev1.ResourceName(name)]; return q.String() }
	g.Expect(amount(n.Capacity, "cpu")).To(Equal("4"))
	g.Expect(amount(n.Capacity, "memory")).To(Equal("15728Mi"), "the kernel keeps some")
	g.Expect(amount(n.Capacity, "pods")).To(Equal("29"))
	g.Expect(amount(n.Capacity, "ephemeral-storage")).To(Equal("20Gi"))
	g.Expect(amount(n.Capacity, "nvidia.com/gpu")).To(Equal("1"))
	g.Expect(amount(n.Allocatable, "cpu")).To(Equal("3920m"), "60m, 10m, 5m and 5m are kept")
	g.Expect(amount(n.Allocatable, "memory")).
		To(Equal("14954Mi"), "255Mi, 11Mi for each pod, 100Mi for the system and 100Mi against eviction are kept")
	g.Expect(amount(n.Allocatable, "ephemeral-storage")).To(Equal("17Gi"), "1Gi and, against eviction, a tenth are kept")
}

func TestUserDataThatNoNodeCouldStartWith(t *testing.T) {
	for text, wrong := range map[string]string{
		"%": "not base64",
		base64.StdEncoding.EncodeToString([]byte(
			"#!/bin/sh\n")): "no MIME archive",
		base64.StdEncoding.EncodeToString([]byte("Content-Type: multipart/mixed; boundary=x\n\n--x\nContent-Type: " +
			"text/plain\n\na\n--x--\n")): "no part of type application/node.eks.aws",
	} {
		_, err := readUserData(text)
		NewWithT(t).Expect(err).To(MatchError(ContainSubstring(wrong)))
	}
}
