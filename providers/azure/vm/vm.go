// Package vm holds virtual machines, however they are asked for.
package vm

import (
	"maps"
	"strconv"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/plumbline-e2e/plumbline/providers/azure/arm"
	"github.com/plumbline-e2e/plumbline/providers/azure/region"
	"github.com/plumbline-e2e/plumbline/providers/simulator"
)

// VM is a virtual machine.
type VM struct {
	ID     arm.ID
	Region *region.Region
	Size   *region.Size
	Zone   string // such as 1; empty: none
	Spot   bool
	DiskGB int
	// Resource is how ARM shows it, without what follows from the other fields.
	Resource arm.Object
	// With holds the resources that live and end with it, such as its NIC.
	With []arm.ID
	// Copied makes With for a copy, which has none. Nil: a copy needs none.
	Copied func(*VM)
	// Kubelet reads how its kubelet is started.
	Kubelet func() (simulator.Kubelet, error)
}

// ScaleSets is the kind of scale sets. The names of their virtual machines are numbers.
const ScaleSets = "microsoft.compute/virtualmachinescalesets"

// Name returns the name of the virtual machine's computer, and so of its node.
// Source: https://learn.microsoft.com/azure/virtual-machine-scale-sets/virtual-machine-scale-sets-instance-ids.
func (v *VM) Name() string {
	if number := v.ID.Name(); v.ID.Kind == ScaleSets+"/virtualmachines/*" {
		return v.ID.Parent().Name() + strings.Repeat("0", max(0, 6-len(number))) + number
	}
	return v.ID.Name()
}

// ProviderID returns the ID with the resource group in lower case, as cloud-provider-azure does.
func (v *VM) ProviderID() string {
	parts := strings.Split(v.ID.Path, "/")
	for n, part := range parts[:len(parts)-1] {
		if strings.EqualFold(part, "resourceGroups") {
			parts[n+1] = strings.ToLower(parts[n+1])
		}
	}
	return "azure://" + strings.Join(parts, "/")
}

// Labels returns the labels that its size gives to its node.
func (v *VM) Labels() map[string]string { return v.Size.Labels() }

// Copy returns a virtual machine like this one, with its tags, but with another name and no NIC.
func (v *VM) Copy() (*VM, error) {
	other := *v
	other.ID, other.With = arm.Parse(v.ID.Path+"-"+strconv.FormatInt(time.Now().UnixNano(), 36)), nil
	if v.Copied != nil {
		v.Copied(&other)
	}
	return &other, nil
}

// usable is the part of a size's memory, in percent, that a kernel finds.
const usable = 96

// Node returns the node that the virtual machine joins the cluster as.
func (v *VM) Node() (simulator.Node, error) {
	kubelet, err := v.Kubelet()
	if err != nil {
		return simulator.Node{Name: v.Name()}, err
	}
	n, err := kubelet.Node(corev1.ResourceList{
		corev1.ResourceCPU:              *resource.NewQuantity(int64(v.Size.CPUs), resource.DecimalSI),
		corev1.ResourceMemory:           *resource.NewQuantity(int64(v.Size.GiB)<<30/100*usable, resource.BinarySI),
		corev1.ResourceEphemeralStorage: *resource.NewQuantity(int64(v.DiskGB)<<30, resource.BinarySI),
	})
	n.Name, n.ProviderID, n.Labels = v.Name(), v.ProviderID(), maps.Clone(n.Labels)
	maps.Copy(n.Labels, map[string]string{
		corev1.LabelHostname: n.Name, corev1.LabelArchStable: "amd64", corev1.LabelOSStable: "linux",
		corev1.LabelInstanceTypeStable: v.Size.Name,
		corev1.LabelTopologyZone:       v.Region.ZoneLabel(v.Zone), corev1.LabelTopologyRegion: v.Region.Name,
	})
	return n, err
}
