// Command simulator simulates a region of AWS for Karpenter. At one address, it answers the
// calls of karpenter-provider-aws to EC2, IAM, EKS, Systems Manager, Pricing and SQS. Its
// instances join a cluster as Nodes that KWOK simulates.
//
//	AWS_ENDPOINT_URL=http://127.0.0.1:4566 karpenter
//
// Requests below /_sim/ inject faults and change the cloud from outside: see hooks.go.
package main

import (
	"flag"
	"strings"

	"golang.org/x/mod/semver"

	"github.com/plumbline-e2e/plumbline/providers/aws/cloud"
	"github.com/plumbline-e2e/plumbline/providers/aws/faulty"
	"github.com/plumbline-e2e/plumbline/providers/aws/wire"
	"github.com/plumbline-e2e/plumbline/providers/simulator"
)

func main() {
	var settings cloud.Settings
	var cluster wire.Cluster
	var queue, lie string
	simulator.Main(simulator.Command{
		About: "Simulates a region of AWS.",
		Port:  4566,
		Flags: func(f *flag.FlagSet) {
			f.StringVar(&settings.Region, "region", "us-east-1", "simulated region")
			f.StringVar(&cluster.Name, "cluster", "plumbline", "name of the EKS cluster")
			f.StringVar(&cluster.CIDR, "services", "10.0.0.0/16", "addresses of the cluster's services")
			f.StringVar(&queue, "queue", "plumbline", "name of the queue of interruptions")
			f.StringVar(&lie, "lie", "", "lie that is told between the provider and the region: see providers/aws/faulty")
		},
		New: func(b *simulator.Base) (simulator.Cloud, error) {
			c, err := cloud.New(b, settings)
			if err != nil {
				return simulator.Cloud{}, err
			}
			cluster.Endpoint = b.Nodes.Endpoint
			cluster.Version = strings.TrimPrefix(semver.MajorMinor(b.Nodes.Version), "v")
			region, err := faulty.Tell(lie, wire.New(b, c, cluster, queue))
			return simulator.Cloud{
				Handler: region, Instances: c.Fleet(), Launches: []string{"ec2:CreateFleet"},
				Hooks: hooks(c), Reset: c.Reset,
			}, err
		},
	})
}
