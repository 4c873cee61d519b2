// Package buffer holds what is promised of CapacityBuffers: room for pods that
// are still to come. A buffer is filled before there is any pod, gives its room to
// pods that come, and is filled again; it shrinks with its spec, grows with its
// workload, keeps to its own limits and to those of NodePools, and holds its
// nodes though they are empty. Each spec's pods exclude each other by host, so
// that room for a pod is a node.
//
// Sources: designs/capacity-buffers.md and the CapacityBuffer API
// (autoscaling.x-k8s.io/v1beta1), which came with Karpenter 1.14 and is behind the
// feature gate CapacityBuffer.
package buffer

import (
	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/providers"
)

// Suite is "capacity buffer ...".
var Suite = &e2e.Suite{
	Name:  "capacity buffer",
	Needs: []providers.Capability{providers.NodePools, providers.CapacityBuffer},
	Gate:  "CapacityBuffer",
	Since: e2e.Since{Karpenter: "1.14"},
}
