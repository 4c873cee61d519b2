package machines

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/plumbline-e2e/plumbline/providers/azure/arm"
	"github.com/plumbline-e2e/plumbline/providers/azure/vm"
	"github.com/plumbline-e2e/plumbline/providers/simulator"
)

// overlay is how many pods nodes have with Azure CNI overlay.
const overlay = 250

// Kubernetes is the part of a description, of a machine or of an agent pool, that is about the kubelet.
type Kubernetes struct {
	NodeLabels                           map[string]string
	NodeTaints, NodeInitializationTaints []string
	MaxPods                              int64
}

// Kubelet returns how AKS starts the kubelet of a virtual machine in an agent pool.
func (k Kubernetes) Kubelet(pool arm.ID, v *vm.VM) (simulator.Kubelet, error) {
	taints := slices.Concat(k.NodeTaints, k.NodeInitializationTaints)
	kubelet, err := simulator.ParseKubeletFlags("--register-with-taints=" + strings.Join(taints, ","))
	kubelet.Labels = map[string]string{
		"kubernetes.azure.com/cluster": v.ID.Group, "kubernetes.azure.com/mode": "user",
		"kubernetes.azure.com/agentpool": pool.Name(), "agentpool": pool.Name(),
	}
	maps.Copy(kubelet.Labels, k.NodeLabels)
	kubelet.MaxPods = cmp.Or(k.MaxPods, overlay)
	kubelet.KubeReserved = map[string]string{
		"cpu":    fmt.Sprintf("%dm", int(1000*tax(float64(v.Size.CPUs), 1, .06, 2, .04, 4, .02, 1<<20, .01))),
		"memory": fmt.Sprintf("%dMi", int(1024*tax(float64(v.Size.GiB), 4, .25, 8, .2, 16, .1, 128, .06, 1<<20, .02))),
	}
	kubelet.EvictionHard = map[string]string{"memory.available": "750Mi"}
	return kubelet, err
}

// tax returns what AKS reserves of an amount: shares of the parts below bounds, which come by pairs
// of bound and share.
// Source: https://learn.microsoft.com/azure/aks/node-resource-reservations.
func tax(amount float64, brackets ...float64) (sum float64) {
	lower := 0.0
	for pair := range slices.Chunk(brackets, 2) {
		upper, share := min(amount, pair[0]), pair[1]
		sum += max(0, upper-lower) * share
		lower = pair[0]
	}
	return sum
}
