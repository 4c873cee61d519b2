// Package local runs clusters on this machine without containers. etcd, the Kubernetes control
// plane and KWOK are ordinary processes on the loopback interface only. They are built from
// pinned Go modules and run by kwokctl's binary runtime.
//
//	cache, err := build.Open(progress)
//	c, err := local.Start(ctx, cache, cluster.Options{Name: "worker-1", Kubernetes: "v1.36.3", Logs: "_artifacts/logs"})
//	defer c.Close(cleanup)
//
// KWOK simulates the kubelets of nodes with the annotation kwok.x-k8s.io/node=fake, and no
// others. Pods really run on the host node (package hostnode).
//
// # Files
//
// Each cluster has its own folder, clusters/<name> in the cache's folder, readable by its
// owner only. It holds kwokctl's state, the administrator's kubeconfig and a lock. The process
// that started the cluster holds the lock as long as it lives. kwokctl never touches ~/.kwok
// and ~/.kube. The components' logs go to [cluster.Options.Logs] and outlive the cluster.
//
// # Supervision and cleanup
//
// kwokctl starts the components and exits. [Start] checks that each of them works, then
// watches them and reports the first that dies, with the end of its log. [cluster.Monitor]
// checks that they still answer. [cluster.Cluster.Close] ends everything and removes the
// folder. If a run is killed, the next one cleans up: [Start] begins with the work of [Reap].
// It ends only processes whose program lies in a cluster's folder without a held lock.
//
// # Ports
//
// Concurrent runs share the machine's ports through lock files in the cache's folder ports.
// Ports come from 20000 to 29999, below those for outgoing connections and node ports.
//
// # Services
//
// On Linux the API server reaches the Services of pods on the host node, and so the webhooks of the
// provider: their addresses are this machine's. Their port must be that of the pod.
package local
