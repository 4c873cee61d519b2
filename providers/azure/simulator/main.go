// Command simulator simulates a subscription of Azure for Karpenter. At one address, it answers the
// calls of karpenter-provider-azure to Azure Resource Manager and to the endpoint of managed
// identities. Its virtual machines join a cluster as Nodes that KWOK simulates.
package main

import (
	"flag"

	"github.com/plumbline-e2e/plumbline/providers/azure/cloud"
	"github.com/plumbline-e2e/plumbline/providers/simulator"
)

func main() {
	const here = "/subscriptions/00000000-0000-0000-0000-000000000001/resourceGroups/"
	var s cloud.Settings
	simulator.Main(simulator.Command{
		About: "It simulates a subscription of Azure in one region.",
		Port:  4570,
		Flags: func(f *flag.FlagSet) {
			f.StringVar(&s.Region, "region", "southcentralus", "simulated region")
			f.StringVar(&s.Group, "group", here+"nodes", "path of the nodes' resource group")
			f.StringVar(&s.Subnet, "subnet", here+"plumbline/providers/Microsoft.Network/virtualNetworks/net/subnets/nodes",
				"path of the nodes' subnet")
			f.StringVar(&s.Pool, "pool", "", "path of the agent pool of AKS machines, if there is one")
		},
		New: func(b *simulator.Base) (simulator.Cloud, error) { return cloud.New(b, s), nil },
	})
}
