// Package local runs clusters on this machine without containers: etcd, the
// Kubernetes control plane and KWOK are ordinary processes, built from pinned
// Go modules and run by kwokctl's binary runtime. All of it listens on the
// loopback interface only.
//
//	cache, err := build.Open(progress)
//	c, err := local.Start(ctx, cache, cluster.Options{Name: "worker-1", Kubernetes: "v1.36.3", Logs: "_artifacts/logs"})
//	defer c.Close(cleanup)
//
// KWOK plays the kubelets of the nodes that carry the annotation
// kwok.x-k8s.io/node=fake, and leaves all other nodes alone: one of those is
// the host node, on which pods run for real (package hostnode).
//
// # What is on disk
//
// Each cluster has a folder of its own, clusters/<name> in the cache's folder,
// readable by its owner only. In it lie the state of kwokctl (which never
// touches the user's ~/.kwok or ~/.kube), the administrator's kubeconfig and a
// lock that is held for as long as the process that started the cluster lives.
// The components' logs are written into [cluster.Options.Logs]; they stay when
// the cluster goes.
//
// # Who watches, who cleans up
//
// kwokctl starts the components and ends. [Start] makes sure that each of them
// works, and from then on watches them: the first that dies is reported with
// its last words. [cluster.Monitor] asks them whether they still answer.
// [cluster.Cluster.Close] ends everything and removes the folder. A run that
// couldn't clean up, having been killed itself, is cleaned up after by the next
// one: [Start] begins with what [Reap] does, which ends only processes whose
// program lies in the folder of a cluster that nobody holds the lock of.
//
// # Ports
//
// Runs that go on at the same time share the machine's ports through lock files
// in the folder ports of the cache. They're taken from 20000 to 29999, which is
// below what systems give to outgoing connections and to node ports.
package local
