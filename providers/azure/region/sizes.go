package region

import (
	"fmt"
	"strconv"
)

// Size is a size of virtual machines.
type Size struct {
	Name   string // such as Standard_D2s_v5
	Family string // such as standardDSv5Family, which has a quota
	// Series and Version are parts of the name: D and 5.
	Series, Version string
	CPUs, GiB       int
}

// sizes returns the catalogue, smallest first in each family.
// Source: https://learn.microsoft.com/azure/virtual-machines/sizes/overview.
func sizes() []*Size {
	var all []*Size
	for _, f := range []struct {
		pattern, family, series, version string
		gibPerCPU                        int
		cpus                             []int
	}{
		{"Standard_D%ds_v5", "standardDSv5Family", "D", "5", 4, []int{2, 4, 8, 16, 32, 48, 64, 96}},
		{"Standard_D%ds_v3", "standardDSv3Family", "D", "3", 4, []int{2, 4, 8, 16, 32, 48, 64}},
		{"Standard_E%ds_v5", "standardESv5Family", "E", "5", 8, []int{2, 4, 8, 16, 20, 32, 48, 64}},
		{"Standard_F%ds_v2", "standardFSv2Family", "F", "2", 2, []int{2, 4, 8, 16, 32, 48, 64, 72}},
	} {
		for _, n := range f.cpus {
			all = append(all, &Size{fmt.Sprintf(f.pattern, n), f.family, f.series, f.version, n, n * f.gibPerCPU})
		}
	}
	return all
}

// Labels returns those that a node has by its size.
// Source: https://learn.microsoft.com/azure/aks/node-auto-provisioning-node-pools.
func (s *Size) Labels() map[string]string {
	const prefix = "karpenter.azure.com/sku-"
	return map[string]string{
		"node.kubernetes.io/instance-type": s.Name,
		prefix + "name":                    s.Name,
		prefix + "family":                  s.Series,
		prefix + "version":                 s.Version,
		prefix + "cpu":                     strconv.Itoa(s.CPUs),
		prefix + "memory":                  strconv.Itoa(s.GiB * 1024),
		prefix + "networking-accelerated":  "true",
		prefix + "storage-premium-capable": "true",
	}
}

// Capabilities returns what Microsoft.Compute says of the size.
func (s *Size) Capabilities() map[string]string {
	return map[string]string{
		"vCPUs": strconv.Itoa(s.CPUs), "vCPUsAvailable": strconv.Itoa(s.CPUs), "MemoryGB": strconv.Itoa(s.GiB),
		"HyperVGenerations": "V1,V2", "CpuArchitectureType": "x64", "LowPriorityCapable": "True", "PremiumIO": "True",
		"VMDeploymentTypes": "IaaS", "MaxDataDiskCount": "8", "EphemeralOSDiskSupported": "False",
		"EncryptionAtHostSupported": "True", "AcceleratedNetworkingEnabled": "True", "MaxNetworkInterfaces": "2",
	}
}
