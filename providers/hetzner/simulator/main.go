// Command simulator simulates a project of Hetzner Cloud for Karpenter. Its servers join a cluster as Nodes that KWOK
// simulates.
package main

import (
	"github.com/plumbline-e2e/plumbline/providers/hetzner/cloud"
	"github.com/plumbline-e2e/plumbline/providers/simulator"
)

func main() {
	simulator.Main(simulator.Command{About: "It simulates a project of Hetzner Cloud.", Port: 4590, New: cloud.New})
}
