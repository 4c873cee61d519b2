// Package saboteur holds lies that run beside an honest provider, with its permissions. They
// use the API only.
package saboteur

import (
	"maps"

	"github.com/plumbline-e2e/plumbline/providers/faulty/lie"
)

// Lies returns the lies of the saboteur level: the provider is honest, and a saboteur changes
// objects as a broken core would.
func Lies() map[string]lie.Lie {
	all := map[string]lie.Lie{
		"disrupts-one-too-many":       claimLie(disruptsOneTooMany()),
		"disrupts-protected-nodes":    claimLie(disruptsProtectedNodes),
		"deletes-before-replacement":  claimLie(deletesBeforeReplacement),
		"replaces-twice":              claimLie(replacesTwice()),
		"replaces-empty-nodes":        claimLie(replacesEmptyNodes()),
		"drifts-without-cause":        {Sabotage: driftsWithoutCause},
		"drifts-back-and-forth":       claimLie(driftsBackAndForth()),
		"launches-without-end":        claimLie(launchesWithoutEnd),
		"expires-early":               claimLie(expiresEarly),
		"expires-what-never-should":   claimLie(expiresWhatNeverShould),
		"applies-new-ages-to-old":     {Sabotage: appliesNewAgesToOld},
		"evicts-before-tainting":      claimLie(evictsBeforeTainting),
		"evicts-protected-pods":       claimLie(evictsProtectedPods),
		"deletes-pods-by-force":       claimLie(deletesPodsByForce),
		"deletes-past-pod-budgets":    claimLie(deletesPastPodBudgets),
		"cuts-grace-periods-short":    claimLie(cutsGracePeriodsShort),
		"stretches-grace-periods":     claimLie(stretchesGracePeriods),
		"drains-daemons-first":        nodeLie(drainsDaemonsFirst),
		"drops-node-finalizers":       nodeLie(dropsNodeFinalizers),
		"drops-claim-finalizers":      claimLie(dropsClaimFinalizers),
		"says-it-ends-at-once":        claimLie(saysItEndsAtOnce),
		"deletes-the-rest-of-a-pool":  nodeLie(deletesTheRest),
		"untaints-draining-nodes":     nodeLie(untaintsDrainingNodes),
		"untaints-disrupted-nodes":    claimLie(untaintsDisruptedNodes),
		"strips-unregistered-taints":  nodeLie(stripsUnregisteredTaints),
		"restores-startup-taints":     claimLie(restoresStartupTaints),
		"lifts-template-taints":       claimLie(liftsTemplateTaints),
		"initializes-early":           claimLie(initializesEarly),
		"takes-registration-back":     claimLie(takesRegistrationBack),
		"changes-provider-ids":        claimLie(changesProviderIDs),
		"rewrites-hashes":             claimLie(rewritesHashes()),
		"gives-no-reason":             claimLie(givesNoReason),
		"stamps-changes-in-the-past":  claimLie(stampsChangesInThePast),
		"panics-after-initialization": claimLie(panicsAfterInitialization),
		"counts-reboots-for-ever":     nodeLie(countsRebootsForEver()),
	}
	maps.Copy(all, standaloneLies())
	maps.Copy(all, chaosLies())
	maps.Copy(all, bufferLies())
	return all
}
