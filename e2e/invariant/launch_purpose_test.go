package invariant

import (
	"testing"
	"time"

	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/e2e/history/historytest"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
)

func TestLaunchesServePods(t *testing.T) {
	nodeClaim := func() *historytest.Thing { return historytest.NodeClaim("c").Pool("p").On("n") }
	node := func() *historytest.Thing { return historytest.Node("n").Ready() }
	pod := func() *historytest.Thing { return historytest.Pod("a", "w") }
	nominated := func() *historytest.Thing {
		return historytest.Report("karpenter", "Nominated", pod()).Set("Pod should schedule on: nodeclaim/c", "message")
	}
	// tell returns a story of a pod, for which a node has just been initialized.
	tell := func(node *historytest.Thing) *historytest.Story {
		return historytest.Begin().Add(pod(), nominated(), historytest.NodeClaim("c").Pool("p")).
			Add(node).Change(nodeClaim().True(karpenter.Initialized)).After(time.Second)
	}
	late := func(s *historytest.Story) *historytest.Story {
		return s.After(schedulerRetry + time.Second).Change(historytest.Pool("p"))
	}
	judgeEach(t, launchesServePods(), map[string]outcome{
		"the pod runs there": {late(tell(node()).Change(pod().On("n"))), check.Holds, ""},
		"another pod runs there": {
			late(tell(node()).Add(historytest.Pod("b", "w").On("n"))), check.Holds, "",
		},
		"another pod came before the NodeClaim knew its node": {
			late(historytest.Begin().Add(pod(), nominated(), historytest.NodeClaim("c").Pool("p"), node()).
				Add(historytest.Pod("b", "w").On("n")).Change(nodeClaim().True(karpenter.Initialized)).After(time.Second)),
			check.Holds, "",
		},
		"a pod on an earlier node of this name": {
			late(historytest.Begin().Add(node(), historytest.Pod("b", "w").On("n")).Delete(node()).
				Add(pod(), nominated(), historytest.NodeClaim("c").Pool("p"), node()).
				Change(nodeClaim().True(karpenter.Initialized)).After(time.Second)), check.Broken, "which waits still",
		},
		"the pod waits still": {late(tell(node())), check.Broken, "which waits still"},
		"the scheduler watches again first": {late(tell(node()).
			Add(historytest.Report(Harness, ReasonInterrupted, pod()))).Change(pod().On("n")), check.Holds, ""},
		"the pod waits after the scheduler watches again": {late(tell(node()).
			Add(historytest.Report(Harness, ReasonInterrupted, pod())).After(watchedAgain)), check.Broken, "which waits still"},
		"the pod is gone":        {late(tell(node()).Delete(pod())), check.Holds, ""},
		"the pod runs elsewhere": {late(tell(node()).Change(pod().On("m"))), check.Holds, ""},
		"only a daemon runs there": {
			late(tell(node()).Add(historytest.Pod("d", "w").On("n").
				Set([]any{map[string]any{"kind": "DaemonSet", "name": "w"}}, "metadata", "ownerReferences"))), check.Broken, "",
		},
		"not long yet":      {tell(node()), check.Vacuous, "no node was initialized"},
		"tainted by others": {late(tell(node().Taint("other"))), check.Vacuous, ""},
		"not ready":         {late(tell(historytest.Node("n"))), check.Vacuous, ""},
		"being deleted": {
			late(tell(node()).Change(nodeClaim().True(karpenter.Initialized).Deleting())), check.Vacuous, "",
		},
		"for nobody": {
			late(historytest.Begin().Add(node(), nodeClaim()).Change(nodeClaim().True(karpenter.Initialized))),
			check.Vacuous, "",
		},
		"a gap": {late(tell(node()).Gap(karpenter.Pods, "410")), check.Unknown, "gap"},
	})
}
