// Package core holds the lies that a broken core of Karpenter would tell.
package core

import (
	"maps"

	"github.com/plumbline-e2e/plumbline/providers/faulty/lie"
)

// Lies returns the lies of the core level: Karpenter's own controllers, as
// they would behave with a mistake in them. None of their code is changed. What
// they read from the API server, and what they write to it, is changed on the
// way; or one of them is left out, or set up wrongly.
func Lies() map[string]lie.Lie {
	all := map[string]lie.Lie{}
	for _, some := range []map[string]lie.Lie{
		budgetLies(), driftLies(), hashLies(), expirationLies(), schedulingLies(), placementLies(), podLies(), choiceLies(),
		launchLies(), taintLies(), drainLies(),
		staticLies(), consolidationLies(), poolLies(), bufferLies(), overlayLies(), repairLies(), claimLies(),
		terminationLies(), controlLies(),
	} {
		maps.Copy(all, some)
	}
	return all
}

// Core's controllers that are lied to, by the names that they give themselves.
const (
	disrupting   = "disruption"
	evicting     = "eviction-queue"
	replacing    = "disruption.queue"
	driftHashing = "nodepool.hash"
	expiring     = "nodeclaim.expiration"
	lifecycle    = "nodeclaim.lifecycle"
	provisioning = "provisioner"
	remembering  = "state.nodeclaim"
	terminating  = "" // node.termination doesn't say its name
)
