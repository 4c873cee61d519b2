// Package providers is what the harness knows of a provider, and how it puts
// one on a cluster.
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
// # From adapter to running controller
//
//	a := providers.Named("kwok")                        // or a path: providers.Load("plumbline.yaml")
//	err := a.Validate()                                 // Mistakes
//	p, err := providers.Prepare(ctx, cache, a, providers.Selection{Version: "v1.9.0"})
//	i, err := p.Install(ctx, cluster, progress)         // once for each cluster
//
// [Prepare] needs no cluster: it downloads the source module, builds the
// controller into an image or opens the given one, renders the chart and reads
// the CRDs. [Prepared.Install] applies the provider's own manifests, as its
// users do, and changes only four things in them: one replica, the image that was
// loaded, and the env and feature gates of the adapter. It returns once the controller is
// ready, or says why it is not: a [NotReady], which names the missing right
// if the provider's roles are to blame ([LacksRights]).
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
// instance in the cloud, is done by hooks: [Installed.Call].
package providers
