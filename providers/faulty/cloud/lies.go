// Package cloud holds the lies of a cloud or of a provider's own code: about launches, nodes,
// offerings, termination, repair and drift.
package cloud

import (
	"maps"

	kwokv1alpha1 "sigs.k8s.io/karpenter/kwok/apis/v1alpha1"
	karpenterv1 "sigs.k8s.io/karpenter/pkg/apis/v1"

	"github.com/plumbline-e2e/plumbline/providers/faulty/lie"
)

// Lies returns the lies of the cloud level. Core is honest here.
func Lies() map[string]lie.Lie {
	all := map[string]lie.Lie{
		// Launches.
		"never-launches":            launching(neverLaunches),
		"leaks-an-instance":         launching(leaksAnother),
		"launches-then-fails":       launching(launchesThenFails()),
		"launches-once-per-pool":    launchesOncePerPool(),
		"launches-too-small":        launching(launchesTooSmall()),
		"launches-too-large":        sized(manyCPUs()),
		"launches-the-dearest":      launching(launchesTheDearest),
		"launches-on-demand":        launching(launchesOnDemand()),
		"prefers-on-demand":         launching(prefersOnDemand),
		"forgets-the-provider-id":   launching(saying(hasNoProviderID)),
		"dies-after-a-launch":       launching(diesAfterLaunch),
		"refuses-old-nodeclaims":    launching(refusesOlder()),
		"ignores-node-affinity":     launching(ignoresRequirements()),
		"forgets-labels":            launching(forgetsLabels()),
		"forgets-annotations":       launching(forgetsAnnotations),
		"promises-too-much":         launching(saying(hasTenfoldRoom)),
		"forgets-the-room":          launching(saying(hasNoAllocatable)),
		"forgets-the-capacity-type": labelled(hasNoCapacityType),
		"forgets-the-zone":          labelled(hasNoZone),
		"mistakes-the-architecture": labelled(hasWrongArchitecture),

		// Nodes that join.
		"joins-registered-at-once": joinedAs(isNotUnregistered),
		"joins-without-taints":     joinedAs(keepsTaintsToItself),
		"joins-in-capitals":        joinedAs(isSpelledOtherwise),
		"joins-with-little-room":   joinsWithLittleRoom(),

		// Nodes that have joined.
		"joins-again":            tending(joinsAgain),
		"resets-labels":          tending(resetsLabels),
		"clears-startup-taints":  tending(clearsStartupTaints),
		"clears-disrupted-taint": tending(clearsDisruptedTaint),
		"clears-foreign-taints":  tending(clearsForeignTaints),
		"ends-by-itself":         tending(endsByItself()),

		// Instance types and offerings.
		"offers-no-spot":            offering(hasNoSpot),
		"offers-room-for-two-pods":  offering(hasRoomForTwo),
		"offers-thousandfold-cpus":  offering(hasThousandfoldCPUs),
		"offers-thousandfold-pods":  offering(hasThousandfoldPods),
		"offers-nothing-to-weights": {Cloud: lying(liar{types: nothingForTheHeaviest})},
		"offers-a-type-per-zone":    {Cloud: lying(liar{types: typePerZone})},
		"offers-only-what-is-left":  {Cloud: lying(liar{types: onlyWhatIsLeft})},
		"offers-what-is-full":       {Cloud: lying(liar{types: allAvailable})},

		// Repair.
		"repairs-at-once":   repairing(toleratesNothing),
		"never-reboots":     repairing(replacesAll),
		"drains-for-longer": repairing(drainsForLonger),

		// Drift.
		"drifts-always":             drifting(func() bool { return true }),
		"drifts-on-and-off":         drifting(onAndOff()),
		"gives-the-reason-of-pools": reasoning("NodePoolDrifted"),
	}
	maps.Copy(all, endLies())
	maps.Copy(all, standaloneLies())
	maps.Copy(all, statusLies())
	return all
}

// endLies returns the lies about how instances end.
func endLies() map[string]lie.Lie {
	return map[string]lie.Lie{
		"forgets-instances":                     ending(forgetsInstances()),
		"never-ends-instances":                  ending(neverEndsInstances),
		"fails-to-end":                          ending(failsToEnd),
		"fails-on-ended-instances":              ending(failsOnEnded()),
		"ends-another-as-well":                  ending(endsAnother()),
		"finds-no-instances-of-unready-classes": {Cloud: lying(liar{find: needsReadyClass})},
	}
}

// statusLies returns the lies about what a NodeClaim and its NodeClass say.
func statusLies() map[string]lie.Lie {
	return map[string]lie.Lie{
		"forgets-the-image": launching(saying(func(claim *karpenterv1.NodeClaim) { claim.Status.ImageID = "" })),
		"mistakes-the-hash-of-nodeclasses": launching(saying(func(claim *karpenterv1.NodeClaim) {
			claim.Annotations[lie.HashAnnotation] += "0"
		})),
		"forgets-the-generation": {NodeClass: func(class *kwokv1alpha1.KWOKNodeClass) {
			for i := range class.Status.Conditions {
				class.Status.Conditions[i].ObservedGeneration = 0
			}
		}},
	}
}
