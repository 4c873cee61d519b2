// Package existing puts KWOK and the provider on a cluster that is there already, and
// takes them away again.
//
//	if err := existing.Check(ctx, o, "registry.example/karpenter:v1"); err != nil { ... } // all that is missing
//	c, err := existing.Start(ctx, cache, o)
//	defer c.Close(cleanup)
//
// # What is ours
//
// All that is put there carries the label cluster.OwnerLabel, and namespaces are of its
// own: plumbline-system for KWOK and for the lease of the run, plumbline-provider for the
// provider, plumbline for what specs create. Fake nodes, which the provider makes, are
// told by KWOK's annotation, since there may have been none before. Nothing else is
// changed. The pods of specs keep off the nodes that were there.
//
// What others' controllers do of their own accord does happen: a DaemonSet that tolerates
// everything gets a pod on each fake node, and a pod of somebody's that doesn't fit
// anywhere makes the provider launch a node for it. Such pods must not be there when a
// run begins.
//
// # One run at a time
//
// A run holds a lease, which says who it is, and ends with it. What a run left whose lease
// is over, or whose process is gone from this machine, is removed by Reap.
package existing
