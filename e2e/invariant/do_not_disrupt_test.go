package invariant

import (
	"testing"
	"time"

	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/e2e/history/historytest"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
)

// at returns a time in a story, as the API writes it.
func at(d time.Duration) string {
	began := time.Date(2026, time.January, 2, 15, 4, 5, 0, time.UTC) // as historytest.Begin
	return began.Add(d).Format(time.RFC3339)
}

func evict(pod *historytest.Thing) *historytest.Thing {
	return pod.Because("DisruptionTarget", "EvictionByEvictionAPI")
}

func TestDoNotDisruptHolds(t *testing.T) {
	claim := func() *historytest.Thing { return historytest.NodeClaim("c").Pool("p").On("n") }
	pod := func() *historytest.Thing { return historytest.Pod("a", "w").On("n").Phase("Running") }
	protect := func(pod *historytest.Thing) *historytest.Thing {
		return pod.Annotate(karpenter.DoNotDisruptAnnotation, "true")
	}
	graced := func() *historytest.Thing { return claim().Set("1h", "spec", "terminationGracePeriod") }
	// tell returns a story of a claim with a protected pod, ten seconds on.
	tell := func(claim *historytest.Thing) *historytest.Story {
		return historytest.Begin().Add(claim, protect(pod())).After(10 * time.Second)
	}
	forced := func(claim *historytest.Thing) *historytest.Story {
		return historytest.Begin().Add(claim, pod()).After(10 * time.Second).
			Add(historytest.Report("karpenter", "Disrupted", pod()))
	}
	another := func(name string) *historytest.Thing { return protect(historytest.Pod(name, "w")) }
	removed := func(component, message string) *historytest.Thing {
		return historytest.Report(component, "SuccessfulDelete", pod()).Set(message, "message")
	}
	judgeEach(t, doNotDisruptHolds(), map[string]outcome{
		"its node drifts, and stays": {tell(claim()).Change(claim().True(karpenter.Drifted)), check.Holds, ""},
		"evicted":                    {tell(claim()).Change(evict(protect(pod()))), check.Broken, "and was evicted"},
		"evicted and gone at once":   {tell(claim()).Delete(evict(protect(pod()))), check.Broken, "and was evicted"},
		"protected too late": {historytest.Begin().Add(claim(), pod()).After(time.Hour).Change(protect(pod())).
			After(time.Second).Change(evict(protect(pod()))), check.Vacuous, ""},
		"bound to no node": {historytest.Begin().
			Add(historytest.NodeClaim("launching").Pool("p"), protect(historytest.Pod("a", "w"))).
			After(time.Hour).Change(evict(protect(historytest.Pod("a", "w")))), check.Vacuous, ""},
		"not Karpenter's node": {
			historytest.Begin().Add(protect(pod())).After(time.Hour).Change(evict(protect(pod()))),
			check.Vacuous, "",
		},
		"its node is disrupted": {
			tell(claim()).Change(claim().Because(karpenter.DisruptionReason, "Empty")), check.Broken,
			"is disrupted (Empty)",
		},
		"drifted, with a grace period": {tell(graced()).
			Change(graced().Because(karpenter.DisruptionReason, "Drifted")), check.Holds, ""},
		"underutilized, with a grace period": {tell(graced()).
			Change(graced().Because(karpenter.DisruptionReason, "Underutilized")), check.Broken, "is disrupted (Underutilized)"},
		"repaired": {tell(claim()).Change(claim().Because(karpenter.DisruptionReason, "Unhealthy")), check.Holds, ""},
		"came only now": {historytest.Begin().Add(claim()).After(time.Hour).Add(protect(pod())).
			After(time.Second).Change(claim().Because(karpenter.DisruptionReason, "Empty")), check.Holds, ""},
		"at its end": {historytest.Begin().Add(claim(), protect(pod()).Phase("Succeeded")).After(time.Hour).
			Change(claim().Because(karpenter.DisruptionReason, "Empty")), check.Vacuous, ""},
		"deleted in a drain": {
			tell(claim().Deleting()).Change(protect(pod()).Deleting()).Add(another("b")),
			check.Broken, "it has the annotation karpenter.sh/do-not-disrupt",
		},
		"deleted in a drain, at its deadline": {tell(claim().Deleting().Annotate(karpenter.TerminationTimestampAnnotation,
			at(9*time.Second))).Change(protect(pod()).Deleting()).Add(another("b")), check.Holds, ""},
		"scaled down in a drain, and up again": {
			tell(claim().Deleting()).
				Add(removed("replicaset-controller", "Deleted pod: a")).Change(protect(pod()).Deleting()).Add(another("b")),
			check.Holds, "",
		},
		"scaled down in a drain, and up again, as the controller says later": {tell(claim().Deleting()).
			Change(protect(pod()).Deleting()).Add(removed("statefulset-controller", "delete Pod a in StatefulSet w successful")).
			Add(another("b")), check.Holds, ""},
		"deleted in a drain while another pod is removed": {
			tell(claim().Deleting()).
				Add(removed("replicaset-controller", "Deleted pod: c")).Change(protect(pod()).Deleting()).Add(another("b")),
			check.Broken, "it has the annotation karpenter.sh/do-not-disrupt",
		},
		"deleted in a drain, removed long ago": {
			historytest.Begin().Add(claim(), protect(pod())).
				Add(removed("replicaset-controller", "Deleted pod: a")).After(time.Minute).Change(claim().Deleting()).
				Change(protect(pod()).Deleting()).Add(another("b")),
			check.Broken, "it has the annotation karpenter.sh/do-not-disrupt",
		},
		"scaled down in a drain": {tell(claim().Deleting()).Change(protect(pod()).Deleting()), check.Holds, ""},
		"deleted by somebody": {
			tell(claim()).Change(protect(pod()).Deleting()).Add(another("b")),
			check.Vacuous, "",
		},
		"forced without a deadline": {forced(claim().Deleting()), check.Broken, "nothing bounds the drain"},
		"forced too early": {
			forced(claim().Deleting().Annotate(karpenter.TerminationTimestampAnnotation, at(time.Hour))),
			check.Broken, "ends before the drain must",
		},
		"forced in time": {
			forced(claim().Deleting().Annotate(karpenter.TerminationTimestampAnnotation, at(9*time.Second))),
			check.Holds, "",
		},
		"forced when it is gone": {historytest.Begin().Add(claim().Deleting(), pod()).Delete(pod()).
			Add(historytest.Report("karpenter", "Disrupted", pod())), check.Broken, "nothing bounds the drain"},
		"nothing is protected": {historytest.Begin().Add(claim(), pod()).Change(claim().True(karpenter.Drifted)).
			Change(evict(pod())), check.Vacuous, "no node with a protected pod"},
		"a gap": {tell(claim()).Gap(karpenter.Pods, "410").
			Change(claim().True(karpenter.Drifted)), check.Unknown, "gap"},
		"evicted before a gap": {
			tell(claim()).Change(evict(protect(pod()))).Gap(karpenter.Pods, "410"), check.Broken,
			"and was evicted",
		},
		"forced, after some gap": {historytest.Begin().Gap(karpenter.NodeClaims, "410").Add(claim().Deleting(), pod()).
			Add(historytest.Report("karpenter", "Disrupted", pod())), check.Unknown, "gap"},
	})
}
