// Package buffer tests CapacityBuffers: room for future pods. Karpenter fills a buffer
// before any pod exists, gives its room to new pods, and fills it again. The buffer
// shrinks with its spec, grows with its workload, and stays within its own limits and
// those of NodePools. It keeps its nodes although they are empty. Each spec's pods
// exclude each other by host, so room for a pod is a node.
//
// Sources: designs/capacity-buffers.md and the CapacityBuffer API
// (autoscaling.x-k8s.io/v1beta1), which came with Karpenter 1.14 and is behind the
// feature gate CapacityBuffer.
package buffer

import (
	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
	"github.com/plumbline-e2e/plumbline/providers"
)

// Suite is "capacity buffer ...".
var Suite = &e2e.Suite{
	Name:  "capacity buffer",
	Needs: []providers.Capability{providers.NodePools, providers.CapacityBuffer},
	Gate:  "CapacityBuffer",
	Since: e2e.Since{Karpenter: karpenter.BuffersSince},
}
