package invariant

import (
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/e2e/history/historytest"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
)

// ofPool returns a registered NodeClaim of the NodePool p and its node.
func ofPool(name string) (nodeClaim, node func() *historytest.Thing) {
	nodeClaim = func() *historytest.Thing {
		return historytest.NodeClaim(name).Pool("p").True(karpenter.Registered).Set("id-"+name, "status", "providerID").
			Set("class", "spec", "nodeClassRef", "name").Set("2026-01-02T15:04:05Z", "metadata", "creationTimestamp").
			Set([]any{map[string]any{"kind": "NodePool", "uid": "NodePool//p"}}, "metadata", "ownerReferences")
	}
	node = func() *historytest.Thing {
		return historytest.Node("node-"+name).Pool("p").Ready().Set("id-"+name, "spec", "providerID")
	}
	return nodeClaim, node
}

func TestDeletedForAReason(t *testing.T) {
	nodeClaim, node := ofPool("c")
	pool := func() *historytest.Thing { return historytest.Pool("p") }
	class := historytest.Other(schema.GroupVersionResource{Group: "example.com", Version: "v1", Resource: "classes"},
		"Class", "", "class")
	namespace := historytest.Other(schema.GroupVersionResource{Version: "v1", Resource: "namespaces"},
		"Namespace", "", "specs")
	begin := func() *historytest.Story {
		return historytest.Begin().Add(pool(), class, nodeClaim(), node()).After(10 * time.Second)
	}
	// ends ends the NodeClaim and its node, as Karpenter does.
	ends := func(s *historytest.Story) *historytest.Story {
		return s.Change(nodeClaim().Deleting()).Change(node().Deleting()).After(time.Second).Delete(node(), nodeClaim())
	}
	report := func(reason string, about *historytest.Thing) *historytest.Story {
		return begin().Add(historytest.Report(Harness, reason, about))
	}
	old := func() *historytest.Thing { return nodeClaim().Set("12s", "spec", "expireAfter") }
	expiring := func(after time.Duration) *historytest.Story {
		return begin().Change(old()).After(after).Change(old().Deleting())
	}
	holds := map[string]*historytest.Story{
		"tainted":                ends(begin().Change(node().Taint(karpenter.DisruptedTaint))),
		"tainted once":           ends(begin().Change(node().Taint(karpenter.DisruptedTaint)).Change(node())),
		"with a reason once":     ends(begin().Change(nodeClaim().True(karpenter.DisruptionReason)).Change(nodeClaim())),
		"expired":                expiring(2 * time.Second),
		"expired, by its clock":  expiring(time.Second),
		"with its pool":          ends(begin().Change(pool().Deleting())),
		"after its pool":         ends(begin().Delete(pool())),
		"after a pool's forbear": ends(begin().Delete(pool()).Add(pool().UID("another"))),
		"with its NodeClass":     ends(begin().Delete(class)),
		"not ready":              ends(begin().Change(node().False("Ready"))),
		"not ready once":         ends(begin().Change(node().False("Ready")).Change(node())),
		"under pressure":         ends(begin().Change(node().True("MemoryPressure"))),
		"with a fault":           ends(begin().Change(node().False("KernelReady"))),
		"after a hook":           ends(report(ReasonHook, class).After(19 * time.Minute)),
		"by a user":              ends(report(ReasonDeleted, nodeClaim())),
		"its node, by a user":    report(ReasonDeleted, node()).Change(node().Deleting()).Change(nodeClaim().Deleting()),
	}
	broken := map[string]*historytest.Story{
		"nothing else":         ends(begin()),
		"at once":              begin().Delete(nodeClaim()),
		"its node":             begin().Change(node().Deleting()),
		"its node went before": begin().Delete(node()).Change(nodeClaim().Deleting()),
		"before it expires":    begin().Change(old().Set("1m", "spec", "expireAfter")).Change(old().Deleting()),
		"long after a hook":    ends(report(ReasonHook, class).After(21 * time.Minute)),
		"by a kubelet":         ends(begin().Add(historytest.Report("kubelet", ReasonDeleted, nodeClaim()))),
		"after a kill":         ends(report(ReasonKilled, historytest.Pod("karpenter", "host"))),
		"another, by a user":   ends(report(ReasonDeleted, historytest.NodeClaim("d"))),
		"low on no memory":     ends(begin().Change(node().False("MemoryPressure"))),
		"not ready at first":   ends(historytest.Begin().Add(pool(), nodeClaim(), node().False("Ready")).Change(node())),
	}
	unregistered := func() *historytest.Thing { return nodeClaim().False(karpenter.Registered) }
	vacuous := map[string]*historytest.Story{
		"during the clean-up": ends(report(ReasonDeleted, namespace)),
		"during an upgrade":   ends(report(ReasonUpgrade, namespace)),
		"not registered":      begin().Change(unregistered()).Change(unregistered().Deleting()),
		"nothing":             begin(),
	}
	stories := map[string]outcome{"a gap": {ends(begin().Gap(karpenter.Nodes, "410")), check.Unknown, "gap"}}
	for name, story := range holds {
		stories[name] = outcome{story, check.Holds, ""}
	}
	for name, story := range broken {
		stories[name] = outcome{story, check.Broken, "is deleted for no reason"}
	}
	for name, story := range vacuous {
		stories[name] = outcome{story, check.Vacuous, "no registered NodeClaim was deleted"}
	}
	judgeEach(t, deletedForAReason(), stories)
}

func TestStaticPoolsDeleteTheirSurplus(t *testing.T) {
	one, itsNode := ofPool("one")
	two, other := ofPool("two")
	replicas := func(n int64) *historytest.Thing { return historytest.Pool("p").Set(n, "spec", "replicas") }
	begin := func(n int64) *historytest.Story {
		return historytest.Begin().Add(replicas(n), one(), itsNode(), two(), other()).After(10 * time.Second)
	}
	judgeEach(t, deletedForAReason(), map[string]outcome{
		"surplus": {begin(2).Change(replicas(1)).After(10 * time.Second).Change(one().Deleting()), check.Holds, ""},
		"surplus lately": {
			begin(2).Change(replicas(1)).Change(replicas(2)).After(time.Second).Change(one().Deleting()), check.Holds, "",
		},
		"one too many": {
			begin(1).Change(one().Deleting()).Delete(itsNode(), one()).After(time.Minute).Change(two().Deleting()),
			check.Broken, "NodeClaim two",
		},
		"wanted": {begin(2).Change(one().Deleting()), check.Broken, "NodeClaim one"},
	})
}

// TestHooksCountAfterAnInterruption checks that what happened before an interruption still explains what comes after.
func TestHooksCountAfterAnInterruption(t *testing.T) {
	nodeClaim, node := ofPool("c")
	h := historytest.Begin().Add(historytest.Pool("p"), nodeClaim(), node()).Start().
		Add(historytest.Report(Harness, ReasonHook, historytest.Pool("class"))).After(time.Second).
		Interrupt(karpenter.Pods).After(time.Minute).Change(nodeClaim().Deleting()).History()
	after, _ := h.AfterInterruption()
	if f := deletedForAReason().Check(Params{}).Judge(after); f.Verdict != check.Holds {
		t.Errorf("want holds; got %s", f)
	}
}
