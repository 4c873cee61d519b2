// Package core holds the lies of a broken core of Karpenter.
package core

import (
	"maps"

	"github.com/plumbline-e2e/plumbline/providers/faulty/lie"
)

// Lies returns the lies of the core level: Karpenter's controllers behave as if they had a
// bug. Their code is unchanged. A lie changes what they read or write, removes one of them, or
// configures it wrongly.
func Lies() map[string]lie.Lie {
	all := map[string]lie.Lie{}
	for _, some := range []map[string]lie.Lie{
		budgetLies(), driftLies(), hashLies(), expirationLies(), schedulingLies(), placementLies(), spreadLies(),
		podLies(), resizedLies(), choiceLies(), hostPortLies(), waitingLies(),
		launchLies(), taintLies(), drainLies(),
		staticLies(), consolidationLies(), lateLies(), poolLies(), spotLies(), bufferLies(), overlayLies(),
		repairLies(), claimLies(),
		deletionCostLies(), faultLies(),
		terminationLies(), controlLies(), settingsLies(), defaultSpreadLies(), devicesLies(),
	} {
		maps.Copy(all, some)
	}
	return all
}

// The names of core's controllers that lies affect.
const (
	disrupting   = "disruption"
	evicting     = "eviction-queue"
	replacing    = "disruption.queue"
	driftHashing = "nodepool.hash"
	expiring     = "nodeclaim.expiration"
	lifecycle    = "nodeclaim.lifecycle"
	provisioning = "provisioner"
	remembering  = "state.nodeclaim"
	terminating  = "" // node.termination has no name
)
