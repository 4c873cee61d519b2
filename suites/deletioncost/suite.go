// Package deletioncost holds the promises about the deletion costs of pods. A ReplicaSet that
// shrinks ends the pods with the lowest cost first. Karpenter gives all pods of a node one
// cost: the lowest there is on a node that is being drained, a low one on a node that has
// drifted, and then in the order in which consolidation would remove nodes. So a workload that
// shrinks empties nodes, and consolidation has fewer pods to move. Pods on nodes that must not
// be disrupted have no cost.
//
// Source: designs/pod-deletion-cost-controller.md, since Karpenter 1.15, behind the feature
// gate PodDeletionCostManagement.
package deletioncost

import (
	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/providers"
)

// Suite is "pod deletion costs ...".
var Suite = &e2e.Suite{
	Name:  "pod deletion costs",
	Needs: []providers.Capability{providers.NodePools, providers.PodDeletionCost},
	Gate:  "PodDeletionCostManagement",
	Since: e2e.Since{Karpenter: "1.15"},
}
