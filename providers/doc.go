// Package providers describes providers to the harness.
//
// # The adapter
//
// An [Adapter] says where a provider's controller comes from, how it is installed,
// what its NodeClass looks like and what it can do. It is data, in one YAML file:
//
//	name: acme
//	source: {module: github.com/acme/karpenter-provider-acme, version: v1.4.0}
//	controller:
//	  image: registry.acme.example/karpenter:{{slice .Version 1}}
//	  ports: {metrics: 8080, health: 8081}
//	  chart:
//	    path: $source/charts/karpenter
//	    values:
//	      settings: {clusterName: "{{.ClusterName}}"}
//	      controller:
//	        metrics: {port: "{{.Ports.metrics}}"}
//	        healthProbe: {port: "{{.Ports.health}}"}
//	crds: [$source/pkg/apis/crds]
//	nodeClass: nodeclass.yaml
//	capabilities:
//	  nodePools: supported
//	  spot: {support: unsupported, why: Acme sells none}
//
// README.md beside this file shows every field, and kwok/adapter.yaml is the
// reference. The same struct can be filled in Go.
//
// All mistakes in an adapter are reported together, before anything is downloaded
// or started. Each comes with its place in the file and with what would be right:
//
//	adapter.yaml:3:1: unknown field `contoller`, did you mean `controller`?
//
// Package install puts a valid adapter's provider on a cluster:
//
//	a := providers.Named("kwok") // or a path: providers.Load("plumbline.yaml")
//	err := a.Validate()          // Mistakes
//
// # Simulated clouds
//
// A provider that can be told the address of its cloud is tested on a simulated one. A
// [Simulator] runs in a pod of its own, beside the controller, on every backend. KWOK plays
// the nodes of its instances. Package simulator has what such clouds share, and aws is one. What
// their adapters share is in the built-in one named simulator: base: simulator.
//
// # What a provider can do
//
// A spec names the capabilities that it needs. [Adapter.Supports] says whether the provider
// has them, and if not, why. Hooks do what no Kubernetes API can do, such as ending an
// instance in the cloud.
package providers
