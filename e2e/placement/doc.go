// Package placement asks the real kube-scheduler whether pods that wait for a node would fit on
// a node that Karpenter could launch.
//
// Karpenter simulates the scheduler. If it launches nothing for a pod, only the scheduler itself
// can tell whether that was right:
//
//	waiting := placement.Waiting(world, namespace, time.Now(), placement.Settled)
//	nodes := shapes.NewNodes(world, waiting)
//	answers, err := placement.Ask(ctx, scheduler, placement.Question{Config: config, Pods: waiting, Nodes: nodes})
//
// [Shapes] are instance types in a zone, as nodes of earlier recordings were, so that no
// provider's catalogue is needed. [Shapes.NewNodes] makes nodes of them that the NodePools
// allow. [Ask] shows them to a second kube-scheduler, beside everything that is in the
// cluster. The scheduler writes nothing to the cluster: its requests go to a server that
// passes on only what it reads.
package placement
