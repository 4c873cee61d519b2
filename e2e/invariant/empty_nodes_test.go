package invariant

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/e2e/history/historytest"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
)

func TestEmptyNodesGo(t *testing.T) {
	pool := func() *historytest.Thing {
		return historytest.Pool("p").Ready().Set("30s", "spec", "disruption", "consolidateAfter")
	}
	node := func() *historytest.Thing {
		return historytest.Node("n").Pool("p").Ready().Set("id", "spec", "providerID").
			Label(karpenter.InitializedLabel, "true").Label(karpenter.CapacityTypeLabel, karpenter.Spot).
			Label(corev1.LabelTopologyZone, "a").Label(corev1.LabelInstanceTypeStable, "small")
	}
	nodeClaim := func() *historytest.Thing {
		return historytest.NodeClaim("c").Pool("p").On("n").Set("id", "status", "providerID").True(karpenter.Initialized)
	}
	pod := func() *historytest.Thing { return historytest.Pod("a", "w").On("n").Phase("Running") }
	podOf := func(kind string) *historytest.Thing {
		return pod().Set([]any{map[string]any{"kind": kind, "name": "w"}}, "metadata", "ownerReferences")
	}
	other := func() *historytest.Thing { return historytest.NodeClaim("d").Set("other", "status", "providerID") }
	otherNode := node().UID("m").Set("m", "metadata", "name").Set("other", "spec", "providerID").False(karpenter.Ready)
	budget := func(fields map[string]any) *historytest.Thing {
		return pool().Set([]any{fields}, "spec", "disruption", "budgets")
	}
	kept := func(o *historytest.Thing) *historytest.Thing {
		return o.Annotate(karpenter.DoNotDisruptAnnotation, "1h")
	}
	// with returns a story in which these objects are there from the start.
	with := func(things ...*historytest.Thing) *historytest.Story {
		return historytest.Begin().Add(things...).Start().After(time.Second)
	}
	begin := func(beside ...*historytest.Thing) *historytest.Story {
		return with(append(beside, pool(), node(), nodeClaim())...)
	}
	// look lets the time pass after which a node should be gone, and a little more or less.
	look := func(s *historytest.Story, more time.Duration) *historytest.Story {
		return s.After(30*time.Second + emptyBound + more).Add(historytest.Node("any"))
	}
	stays := func(s *historytest.Story) outcome {
		return outcome{look(look(s, time.Second), time.Second), check.Broken, "node n has been empty"}
	}
	excused := func(s *historytest.Story) outcome {
		return outcome{look(look(s, time.Second), time.Second), check.Vacuous, "no node was removed"}
	}
	early := func(s *historytest.Story) outcome {
		return outcome{look(s, -2*time.Second), check.Vacuous, "no node was removed"}
	}
	judgeEach(t, emptyNodesGo(), map[string]outcome{
		"removed":  {begin().Change(nodeClaim().Because(karpenter.DisruptionReason, "Empty")), check.Holds, ""},
		"deleted":  excused(begin().Change(nodeClaim().Deleting())),
		"not yet":  early(begin()),
		"just now": {look(begin(), time.Second), check.Broken, "consolidateAfter: 30s"},
		"at last":  stays(begin()),
		"a gap":    {look(begin().Gap(karpenter.Pods, "410"), time.Second), check.Unknown, "gap"},

		"not consolidatable":   stays(begin().Change(nodeClaim().False(karpenter.Consolidatable))),
		"a daemon":             stays(begin(podOf("DaemonSet"))),
		"a static pod":         stays(begin(podOf("Node"))),
		"an ended pod":         stays(begin(pod().Phase("Succeeded"))),
		"a pod":                excused(begin(pod())),
		"an ending pod":        excused(begin(pod().Deleting())),
		"a protected daemon":   excused(begin(kept(podOf("DaemonSet")))),
		"a pod that has gone":  stays(begin(pod()).After(time.Minute).Delete(pod())),
		"a pod that goes late": early(begin(pod()).After(time.Minute).Delete(pod())),
		"a pod that comes":     early(begin().After(time.Minute).Add(pod()).Delete(pod())),
		"a daemon and a PodDisruptionBudget": excused(begin(podOf("DaemonSet"),
			historytest.Other(karpenter.PodDisruptionBudgets, "PodDisruptionBudget", "default", "b"))),

		"a pod waits":          excused(begin(historytest.Pod("b", "w"))),
		"a daemon waits":       stays(begin(podOf("DaemonSet").On(""))),
		"a pod waited":         early(begin(historytest.Pod("b", "w")).After(time.Minute).Delete(historytest.Pod("b", "w"))),
		"another NodeClaim":    stays(begin(other())),
		"a launch":             excused(begin(historytest.NodeClaim("d"))),
		"another deletion":     excused(begin(other().Deleting())),
		"another disruption":   excused(begin(other().True(karpenter.DisruptionReason))),
		"another reboot":       excused(begin(other().True(karpenter.Rebooting))),
		"another drifted":      excused(begin(other().True(karpenter.Drifted))),
		"another had drifted":  early(begin(other().True(karpenter.Drifted)).After(time.Minute).Change(other())),
		"another wasn't ready": early(begin(otherNode).After(time.Minute).Delete(otherNode)),

		"the pool changed":      early(begin().After(time.Minute).Change(pool())),
		"the pool never does":   excused(begin().Change(pool().Set("Never", "spec", "disruption", "consolidateAfter"))),
		"the pool isn't ready":  excused(begin().Change(pool().False(karpenter.Ready))),
		"the pool is deleted":   excused(begin().Change(pool().Deleting())),
		"the pool is gone":      excused(begin().Delete(pool())),
		"the pool is static":    excused(begin().Change(pool().Set(int64(1), "spec", "replicas"))),
		"no pool":               excused(with(node().Pool(""), nodeClaim())),
		"a budget of a tenth":   stays(begin().Change(budget(map[string]any{"nodes": "10%"}))),
		"a budget of none":      excused(begin().Change(budget(map[string]any{"nodes": "0"}))),
		"a budget for drift":    stays(begin().Change(budget(map[string]any{"nodes": "0", "reasons": []any{"Drifted"}}))),
		"a budget that is used": excused(begin(otherNode).Change(budget(map[string]any{"nodes": "1"}))),
		"a budget at times": excused(begin().Change(budget(map[string]any{
			"nodes": "0", "schedule": "@yearly", "duration": "1m",
		}))),

		"a kept node":           excused(with(pool(), kept(node()), nodeClaim())),
		"a kept NodeClaim":      excused(with(pool(), node(), kept(nodeClaim()))),
		"no NodeClaim":          excused(with(pool(), node())),
		"uninitialized":         excused(with(pool(), node(), nodeClaim().False(karpenter.Initialized))),
		"not so labeled":        excused(with(pool(), node().Label(karpenter.InitializedLabel, ""), nodeClaim())),
		"in no zone":            excused(with(pool(), node().Label(corev1.LabelTopologyZone, ""), nodeClaim())),
		"not ready":             excused(with(pool(), node().False(karpenter.Ready), nodeClaim())),
		"tainted by somebody":   excused(with(pool(), node().Taint("t"), nodeClaim())),
		"tainted as it must be": stays(with(pool(), node().Taint("t"), nodeClaim().Taint("t"))),

		"a buffer": excused(begin(historytest.Other(karpenter.CapacityBuffers, "CapacityBuffer", "default", "b"))),
		"overlays": excused(begin(historytest.Other(karpenter.NodeOverlays, "NodeOverlay", "", "o"))),
		"a kill":   {look(begin().Add(historytest.Report(Harness, ReasonKilled, pod())), time.Second), check.Vacuous, ""},
		"a kill long ago": stays(begin().Add(historytest.Report(Harness, ReasonKilled, pod())).
			After(karpenter.TakenOver)),
		"a hook":     excused(begin().Add(historytest.Report(Harness, ReasonHook, pool()))),
		"a fault":    excused(begin().Add(historytest.Report(Harness, ReasonFault, pool()))),
		"an upgrade": excused(begin().Add(historytest.Report(Harness, ReasonUpgrade, pool()))),
	})
}
