// Package kind runs clusters in containers, by kind's library: a kubeadm cluster of
// one real node, on which the system and the provider's pod run, and KWOK in it, which
// plays the kubelets of all other nodes.
//
//	c, err := kind.Start(ctx, cache, cluster.Options{Name: "worker-1", Kubernetes: "v1.36.4", Logs: "_artifacts/logs"})
//	defer c.Close(cleanup)
//
// The real node carries the taint CriticalAddonsOnly, which the charts of Karpenter's
// providers tolerate and workloads don't; kube-proxy and kindnet stay on it, so that the
// nodes that a provider launches run nothing but what specs put there.
//
// # Engines
//
// kind needs Docker or podman, with the engine running. KIND_EXPERIMENTAL_PROVIDER chooses,
// as it does for kind's own command; else Docker is taken where it is installed.
//
// # What is left behind, and whose it is
//
// A cluster is called plumbline-<name>, and has a folder in the cache's folder kind that
// belongs to the run that started it (package owned). What dead runs left is told by that
// folder and removed by the next run; a cluster without such a folder is never touched.
package kind
