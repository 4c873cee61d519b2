package invariant

import (
	"testing"
	"time"

	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/e2e/history/historytest"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
)

func TestDrainsInOrder(t *testing.T) {
	node := func() *historytest.Thing { return historytest.Node("n").Pool("p").Ready() }
	claim := func() *historytest.Thing {
		return historytest.NodeClaim("c").Pool("p").On("n").Set("30s", "spec", "terminationGracePeriod")
	}
	pod := func(name string) *historytest.Thing { return historytest.Pod(name, "w").On("n").Phase("Running") }
	later := historytest.Node("other")
	// drained returns a story of a claim that is deleted at the start, and of its pod.
	drained := func(claim, pod *historytest.Thing, then func(*historytest.Story)) *historytest.Story {
		s := historytest.Begin().Add(node(), claim, pod).Change(claim.Deleting()).After(29 * time.Second)
		then(s)
		return s.After(30 * time.Second).Add(later)
	}
	nothing := func(*historytest.Story) {}
	tolerant := pod("a").Set([]any{map[string]any{"key": karpenter.DisruptedTaint, "operator": "Exists"}}, "spec",
		"tolerations")
	judgeEach(t, drainsInOrder(), map[string]outcome{
		"gone in time": {drained(claim(), pod("a"), func(s *historytest.Story) { s.Delete(pod("a")) }), check.Holds, ""},
		"told in time": {drained(claim(), pod("a"), func(s *historytest.Story) {
			s.Change(pod("a").Set(at(30*time.Second), "metadata", "deletionTimestamp"))
		}), check.Holds, ""},
		"nobody told it": {
			drained(claim(), pod("a"), nothing), check.Broken,
			"the drain of node n had to be over at 15:04:35; 29s later",
		},
		"killed at the end, and nobody told it": {drained(claim(), pod("a"), func(s *historytest.Story) {
			s.Add(historytest.Report(Harness, ReasonKilled, historytest.Pod("karpenter", "host"))).After(5 * time.Second)
		}).After(time.Minute).Change(pod("b")), check.Broken, "had to be over at 15:04:35"},
		"killed at the end, and told by the next": {drained(claim(), pod("a"), func(s *historytest.Story) {
			s.Add(historytest.Report(Harness, ReasonKilled, historytest.Pod("karpenter", "host"))).After(20 * time.Second).
				Change(pod("a").Set(at(50*time.Second), "metadata", "deletionTimestamp"))
		}), check.Holds, ""},
		"told to end later": {drained(claim(), pod("a"), func(s *historytest.Story) {
			s.Change(pod("a").Set(at(time.Hour), "metadata", "deletionTimestamp"))
		}), check.Broken, "not told to end by then"},
		"the annotation bounds it": {drained(claim().Annotate(karpenter.TerminationTimestampAnnotation, at(5*time.Second)),
			pod("a"), nothing), check.Broken, "had to be over at 15:04:10"},
		"the annotation alone does": {drained(claim().Set(nil, "spec", "terminationGracePeriod").
			Annotate(karpenter.TerminationTimestampAnnotation, at(time.Hour)), pod("a"), nothing), check.Holds, ""},
		"the annotation puts it off": {drained(claim().Annotate(karpenter.TerminationTimestampAnnotation, at(time.Hour)),
			pod("a"), nothing), check.Broken, "puts the end of its drain off to 16:04:05"},
		"the annotation says nothing": {drained(claim().Annotate(karpenter.TerminationTimestampAnnotation, "soon"), pod("a"),
			nothing), check.Broken, "had to be over at 15:04:35"},
		"it was so from the start": {historytest.Begin().Add(node(), claim().Deleting(), pod("a")).Start().
			After(time.Minute).Add(later), check.Broken, "had to be over"},
		"it tolerates it": {drained(claim(), tolerant, nothing), check.Vacuous, ""},
		"no deadline": {
			drained(claim().Set(nil, "spec", "terminationGracePeriod"), pod("a"), nothing), check.Vacuous,
			"no node with pods was drained",
		},
		"a gap before": {historytest.Begin().Gap(karpenter.Pods, "410").Add(node(), claim().Deleting(), pod("a")).
			After(time.Minute).Add(later), check.Unknown, "gap"},
		"a gap in the end": {drained(claim(), pod("a"), func(s *historytest.Story) {
			s.Delete(pod("a"))
		}).Gap(karpenter.Pods, "410"), check.Unknown, "gap"},
		"the node goes, too": {drained(claim(), pod("a"), func(s *historytest.Story) {
			s.Delete(claim().Deleting())
		}), check.Holds, ""},
	})
}

func TestDrainInTurn(t *testing.T) {
	node := func() *historytest.Thing { return historytest.Node("n").Pool("p").Ready() }
	app := func() *historytest.Thing { return historytest.Pod("app", "w").On("n").Phase("Running") }
	daemon := func() *historytest.Thing {
		return historytest.Pod("daemon", "d").On("n").Phase("Running").
			Set([]any{map[string]any{"apiVersion": "apps/v1", "kind": "DaemonSet", "name": "d"}}, "metadata", "ownerReferences")
	}
	critical := func() *historytest.Thing {
		return historytest.Pod("critical", "k").On("n").Phase("Running").
			Set("system-cluster-critical", "spec", "priorityClassName")
	}
	tell := func(pods ...*historytest.Thing) *historytest.Story {
		return historytest.Begin().Add(node()).Add(pods...).After(time.Minute).Change(node().Deleting()).After(time.Second)
	}
	judgeEach(t, drainsInOrder(), map[string]outcome{
		"in turn": {tell(app(), daemon(), critical()).
			Change(evict(app())).Delete(evict(app())).
			Change(evict(daemon())).Delete(evict(daemon())).
			Change(evict(critical())).Delete(evict(critical())), check.Holds, ""},
		"the daemon goes first": {
			tell(app(), daemon()).Change(evict(daemon())), check.Broken,
			"was gone, which has to leave earlier",
		},
		"the critical one goes first": {
			tell(critical(), daemon()).Change(evict(critical())), check.Broken,
			"was gone, which has to leave earlier",
		},
		"it doesn't wait for the end": {
			tell(app(), daemon()).Change(evict(app())).Change(evict(daemon())), check.Broken,
			"was gone, which has to leave earlier",
		},
		"the other is at its end": {tell(app().Phase("Succeeded"), daemon()).Change(evict(daemon())), check.Holds, ""},
		"the other came late":     {tell(daemon()).Add(app()).Change(evict(daemon())), check.Holds, ""},
		"the other is stuck": {tell(app().Set(at(-time.Hour), "metadata", "deletionTimestamp"), daemon()).
			Change(evict(daemon())), check.Holds, ""},
		"the other is about to be forced": {historytest.Begin().Add(node(), app(), daemon()).After(time.Minute).
			Add(historytest.NodeClaim("c").On("n").Deleting().
				Annotate(karpenter.TerminationTimestampAnnotation, at(time.Minute))).
			Change(node().Deleting()).After(2 * time.Second).Change(evict(daemon())), check.Holds, ""},
		"one turn only":  {tell(app()).Change(evict(app())), check.Vacuous, "different turns"},
		"nobody drained": {historytest.Begin().Add(node(), app(), daemon()).Change(evict(daemon())), check.Vacuous, ""},
		"a gap": {historytest.Begin().Gap(karpenter.Pods, "410").Add(node(), app(), daemon()).After(time.Minute).
			Change(node().Deleting()).Change(evict(daemon())), check.Unknown, "gap"},
	})
}

func TestDrainIsOver(t *testing.T) {
	node := func() *historytest.Thing { return historytest.Node("n").Pool("p").Ready() }
	claim := func() *historytest.Thing { return historytest.NodeClaim("c").Pool("p").On("n").Deleting() }
	pod := func() *historytest.Thing { return historytest.Pod("a", "w").On("n").Phase("Running") }
	tell := func(things ...*historytest.Thing) *historytest.Story {
		return historytest.Begin().Add(things...).After(time.Minute).Change(node().Deleting()).After(10 * time.Second)
	}
	ended := claim().True(karpenter.InstanceTerminating)
	late := claim().Annotate(karpenter.TerminationTimestampAnnotation, at(time.Minute))
	judgeEach(t, drainsInOrder(), map[string]outcome{
		"when the pods are gone": {tell(node(), claim(), pod()).Delete(pod()).Change(claim().True(karpenter.Drained)).
			Change(ended), check.Holds, ""},
		"too early": {
			tell(node(), claim(), pod()).Change(claim().True(karpenter.Drained)), check.Broken,
			"pod default/a that should have left is still on it",
		},
		"the instance ends too early": {
			tell(node(), claim(), pod()).Change(ended), check.Broken,
			"its instance is being ended",
		},
		"a pod is still ending": {tell(node(), claim(), pod()).
			Change(pod().Set(at(2*time.Minute), "metadata", "deletionTimestamp")).Change(ended), check.Broken, "still on it"},
		"a pod that is stuck": {tell(node(), claim(), pod().Set(at(-time.Hour), "metadata", "deletionTimestamp")).
			Change(ended), check.Holds, ""},
		"a pod that came late": {tell(node(), claim()).Add(pod()).Change(ended), check.Holds, ""},
		"a pod at its end":     {tell(node(), claim(), pod().Phase("Failed")).Change(ended), check.Holds, ""},
		"the node is lost": {tell(node(), claim(), pod()).Change(node().False(karpenter.Ready).Deleting()).
			Change(ended), check.Vacuous, ""},
		"the node is gone": {
			tell(node(), claim(), pod()).Delete(node().Deleting()).Change(ended),
			check.Vacuous, "",
		},
		"the deadline is over": {
			tell(node(), late, pod()).Change(late.True(karpenter.InstanceTerminating)),
			check.Holds, "",
		},
		"nobody drains": {
			historytest.Begin().Add(node(), claim(), pod()).After(time.Minute).Change(ended),
			check.Vacuous, "",
		},
		"too early, but there's a gap": {
			tell(node(), claim(), pod()).Gap(karpenter.Pods, "410").Change(ended),
			check.Unknown, "gap",
		},
	})
}

func TestDeadline(t *testing.T) {
	in := func(d time.Duration) *historytest.Thing {
		return historytest.NodeClaim("c").Set("30s", "spec", "terminationGracePeriod").
			Annotate(karpenter.TerminationTimestampAnnotation, at(d))
	}
	for name, want := range map[string]struct {
		claim *historytest.Thing
		by    string
	}{
		"the annotation is earlier":  {in(5 * time.Second).Deleting(), at(5 * time.Second)},
		"the spec is earlier":        {in(time.Hour).Deleting(), at(30 * time.Second)},
		"it isn't being deleted yet": {in(time.Hour), at(time.Hour)},
		"only the spec says": {
			historytest.NodeClaim("c").Set("30s", "spec", "terminationGracePeriod").Deleting(),
			at(30 * time.Second),
		},
		"nobody says": {historytest.NodeClaim("c").Deleting(), time.Time{}.Format(time.RFC3339)},
	} {
		claim := historytest.Begin().Add(want.claim).History().Events()[0].Object.Unstructured()
		if by := drainDeadline(claim).UTC().Format(time.RFC3339); by != want.by {
			t.Errorf("%s: the drain must be over at %s, want %s", name, by, want.by)
		}
	}
}
