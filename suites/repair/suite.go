// Package repair holds the promises about nodes that stay unhealthy. Karpenter replaces
// such a node once its toleration is over. The replacement comes first, within budgets.
// Do-not-disrupt on the node or its pods does not prevent this. Karpenter waits for pods
// only for the grace period. It leaves nodes with do-not-repair alone. It repairs none
// while more than a fifth of the pool is unhealthy. A rollout or the network is the
// likelier cause. A node whose fault a reboot clears is rebooted in place: Karpenter
// drains it first, launches nothing meanwhile, and replaces it if two reboots don't help.
//
// Sources: designs/node-repair.md and designs/making-node-repair-voluntary.md, by
// which repair has kept to budgets and replaced first since Karpenter 1.15;
// designs/reboot-node-action.md, since 1.15, too. It is behind the feature gate
// NodeRepair. Which conditions make a node unhealthy or require a reboot is the
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
