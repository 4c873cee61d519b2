package vm_test

import (
	"encoding/base64"
	"testing"

	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"

	"github.com/plumbline-e2e/plumbline/providers/azure/arm"
	"github.com/plumbline-e2e/plumbline/providers/azure/region"
	"github.com/plumbline-e2e/plumbline/providers/azure/vm"
	"github.com/plumbline-e2e/plumbline/providers/simulator"
)

func encode(script string) string { return base64.StdEncoding.EncodeToString([]byte(script)) }

const script = `#!/bin/bash
KUBELET_FLAGS="--max-pods=30 --kube-reserved=cpu=140m,memory=2Gi --register-with-taints=karpenter.sh/unregistered:NoExecute"
KUBELET_NODE_LABELS="team=blue,karpenter.sh/nodepool=p"
`

func TestNodes(t *testing.T) {
	g, r := NewWithT(t), region.New("southcentralus")
	v := &vm.VM{
		ID:     arm.Parse("/subscriptions/s/resourceGroups/MC_Group/providers/Microsoft.Compute/virtualMachines/AKS-a"),
		Region: r, Size: r.Size("Standard_D4s_v5"), Zone: "2", DiskGB: 128,
		Kubelet: func() (simulator.Kubelet, error) { return vm.CustomData(encode(script)) },
	}
	n, err := v.Node()
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(n.Name).To(Equal("aks-a"))
	g.Expect(n.ProviderID).To(Equal(
		"azure:///subscriptions/s/resourceGroups/mc_group/providers/Microsoft.Compute/virtualMachines/AKS-a"))
	g.Expect(n.Labels).To(And(HaveKeyWithValue("team", "blue"),
		HaveKeyWithValue(corev1.LabelTopologyZone, "southcentralus-2"),
		HaveKeyWithValue(corev1.LabelInstanceTypeStable, "Standard_D4s_v5")))
	g.Expect(n.Taints).To(ConsistOf(HaveField("Key", "karpenter.sh/unregistered")))
	g.Expect(n.Capacity.Pods().Value()).To(BeEquivalentTo(30))
	g.Expect(n.Allocatable.Cpu().MilliValue()).To(BeEquivalentTo(4000 - 140))

	v.Zone = ""
	n, err = v.Node()
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(n.Labels).To(HaveKeyWithValue(corev1.LabelTopologyZone, "0"))
	other, err := v.Copy()
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(other.Name()).NotTo(Equal(v.Name()))
}

// The names in a scale set are those of Azure: its own, and the number in six digits.
func TestNodesOfScaleSets(t *testing.T) {
	g := NewWithT(t)
	v := &vm.VM{ID: arm.Parse("/subscriptions/s/resourceGroups/MC_Group/providers/Microsoft.Compute/" +
		"virtualMachineScaleSets/aks-a-12345678-vmss/virtualMachines/0")}
	g.Expect(v.Name()).To(Equal("aks-a-12345678-vmss000000"))
	g.Expect(v.ProviderID()).To(Equal("azure:///subscriptions/s/resourceGroups/mc_group/providers/Microsoft.Compute/" +
		"virtualMachineScaleSets/aks-a-12345678-vmss/virtualMachines/0"))
}

func TestCustomDataThatStartsNoKubelet(t *testing.T) {
	for data, want := range map[string]string{
		"%":                             "base64",
		encode("#!/bin/bash"):           "KUBELET_FLAGS",
		encode(`KUBELET_FLAGS="--a=b"`): "KUBELET_NODE_LABELS",
	} {
		_, err := vm.CustomData(data)
		NewWithT(t).Expect(err).To(MatchError(ContainSubstring(want)), data)
	}
}
