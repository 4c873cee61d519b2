// Package kind runs clusters in containers, with kind's library. A kubeadm cluster has one
// real node for the system and the provider's pod. KWOK runs in the cluster and simulates the
// kubelets of all other nodes.
//
//	c, err := kind.Start(ctx, cache, cluster.Options{Name: "worker-1", Kubernetes: "v1.36.4", Logs: "_artifacts/logs"})
//	defer c.Close(cleanup)
//
// The real node has the taint CriticalAddonsOnly. The charts of Karpenter's providers tolerate
// it; workloads don't. kube-proxy and kindnet stay on this node, so that the provider's nodes
// run only the pods of specs.
//
// # Engines
//
// kind needs Docker or podman, with a running engine. KIND_EXPERIMENTAL_PROVIDER selects one,
// as for kind's own command; the default is Docker if installed.
//
// # Cleanup
//
// A cluster is called plumbline-<name>. It has a folder in the cache's folder kind, which
// belongs to the run that started it (package owned). The next run removes the clusters of
// dead runs by these folders. It never touches a cluster without one.
package kind
