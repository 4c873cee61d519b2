// Package repair holds what is promised of nodes that stay unhealthy: one is
// replaced once its toleration is over, replacement first, within budgets, though
// neither it nor its pods may be disrupted, and without waiting for its pods
// longer than its grace period. Nodes that say so are left alone, and all are
// while more than a fifth of their pool is unhealthy, which a rollout or the
// network is more likely to be the cause of than the nodes.
//
// Sources: designs/node-repair.md and designs/making-node-repair-voluntary.md, by
// which repair has kept to budgets and replaced first since Karpenter 1.15. It is
// behind the feature gate NodeRepair. Which condition makes a node unhealthy is the
// provider's to say.
package repair

import (
	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/providers"
)

// Suite is "node repair ...".
var Suite = &e2e.Suite{
	Name:  "node repair",
	Needs: []providers.Capability{providers.NodePools, providers.NodeRepair},
	Gate:  "NodeRepair",
}
