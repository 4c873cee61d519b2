// Package existing installs KWOK and the provider on an existing cluster, and removes them.
//
//	if err := existing.Check(ctx, o, "registry.example/karpenter:v1"); err != nil { ... } // all that is missing
//	c, err := existing.Start(ctx, cache, o)
//	defer c.Close(cleanup)
//
// # Ownership
//
// Everything that it creates carries the label cluster.OwnerLabel. It has its own namespaces:
// plumbline-system for KWOK and the run's lease, plumbline-provider for the provider,
// plumbline for the objects of specs. The provider's fake nodes are known by KWOK's
// annotation, because none may exist before. Nothing else is changed. Pods of specs avoid the
// existing nodes.
//
// Other controllers still act. A DaemonSet that tolerates everything gets a pod on each fake
// node. The provider launches a node for any pod that fits nowhere, so no such pod may exist
// when a run begins.
//
// # One run at a time
//
// A run holds a lease with its identity, and ends with the lease. Reap removes what a run left
// if its lease has expired or its process no longer runs on this machine.
package existing
