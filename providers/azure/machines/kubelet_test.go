package machines

import (
	"testing"

	. "github.com/onsi/gomega"

	"github.com/plumbline-e2e/plumbline/providers/azure/arm"
	"github.com/plumbline-e2e/plumbline/providers/azure/region"
	"github.com/plumbline-e2e/plumbline/providers/azure/vm"
)

func TestWhatAKSReserves(t *testing.T) {
	r, pool := region.New("southcentralus"), arm.Parse("/providers/"+Pools+"/p")
	for size, want := range map[string]map[string]string{
		"Standard_D2s_v5":  {"cpu": "100m", "memory": "1843Mi"},
		"Standard_D4s_v5":  {"cpu": "140m", "memory": "2662Mi"},
		"Standard_E64s_v5": {"cpu": "740m", "memory": "17408Mi"},
	} {
		g := NewWithT(t)
		k, err := Kubernetes{NodeTaints: []string{"a=b:NoSchedule"}, NodeLabels: map[string]string{"c": "d"}}.
			Kubelet(pool, &vm.VM{Size: r.Size(size)})
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(k.KubeReserved).To(Equal(want), size)
		g.Expect(k.MaxPods).To(BeEquivalentTo(overlay))
		g.Expect(k.Taints).To(ConsistOf(HaveField("Value", "b")))
		g.Expect(k.Labels).To(And(HaveKeyWithValue("c", "d"), HaveKeyWithValue("kubernetes.azure.com/agentpool", "p")))
	}
}
