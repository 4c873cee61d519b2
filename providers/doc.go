// Package providers is what the harness knows of a provider.
//
// # The adapter
//
// An [Adapter] says what a provider is: where its controller comes from, how it
// is installed, what its NodeClass looks like and what it can do. It is data,
// one YAML file:
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
// Every field is in README.md beside this file, and kwok/adapter.yaml is the
// reference. The same struct can be filled in Go.
//
// Reading is strict, and it is all or nothing in the other direction: every
// mistake is reported together with the others, with its place and with what
// would be right, before anything is downloaded or started.
//
//	adapter.yaml:3:1: unknown field `contoller`, did you mean `controller`?
//
// Named or loaded and valid, it is put on a cluster by package install:
//
//	a := providers.Named("kwok") // or a path: providers.Load("plumbline.yaml")
//	err := a.Validate()          // Mistakes
//
// # Simulated clouds
//
// A provider whose cloud can be told by its address is tested on one that is simulated: a
// [Simulator] runs in a pod of its own, beside the controller, on every backend alike. Its
// instances join the cluster as nodes that KWOK plays; package simulator has what such clouds
// share, and aws is one.
//
// # What a provider can do
//
// A spec names the capabilities that it needs; [Adapter.Supports] answers, with
// the reason if it is no. What no Kubernetes API reaches, such as ending an
// instance in the cloud, is done by hooks.
package providers
