package invariant

import (
	"testing"

	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/e2e/history/historytest"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
)

func TestControllerStaysUp(t *testing.T) {
	type object = map[string]any
	in := func(namespace, name string, containers ...any) *historytest.Thing {
		return historytest.Other(karpenter.Pods, "Pod", namespace, name).Set(containers, "status", "containerStatuses")
	}
	pod := func(containers ...any) *historytest.Thing { return in("kube-system", "karpenter-1", containers...) }
	running := func(restarts int64) any {
		return object{"name": "controller", "restartCount": restarts, "state": object{"running": object{}}}
	}
	panicked := object{
		"exitCode": 2, "reason": "Error",
		"message": "{\"level\":\"INFO\"}\npanic: assignment to entry in nil map\n\ngoroutine 1",
	}
	restarted := object{
		"name": "controller", "restartCount": 1, "state": object{"running": object{}},
		"lastState": object{"terminated": panicked},
	}
	ended := object{"name": "controller", "state": object{"terminated": panicked}}
	tell := func() *historytest.Story { return historytest.Begin().Add(pod(running(0))).Start() }
	killed := map[string]any{"exitCode": 137, "reason": "Error"}
	down := object{"name": "controller", "state": object{"terminated": killed}}
	again := object{
		"name": "controller", "restartCount": 1, "state": object{"running": object{}},
		"lastState": object{"terminated": killed},
	}
	downAgain := object{"name": "controller", "restartCount": 1, "state": object{"terminated": killed}}
	kill := func(reporter string) *historytest.Thing { return historytest.Report(reporter, ReasonKilled, pod()) }
	judgeEach(t, controllerStaysUp(), map[string]outcome{
		"runs":       {tell().Change(pod(running(0))), check.Holds, ""},
		"runs later": {historytest.Begin().Add(pod()).Change(pod(running(0))), check.Holds, ""},
		"restarted before": {
			historytest.Begin().Add(pod(running(3))).Start().Change(pod(running(3))),
			check.Holds, "",
		},
		"restarts": {
			tell().Change(pod(restarted)), check.Broken,
			"was restarted (1 times by now): Error, exit code 2, panic: assignment to entry in nil map",
		},
		"ends": {
			tell().Change(pod(ended)), check.Broken,
			"container controller ended: Error, exit code 2, panic:",
		},
		"ends when it is deleted": {tell().Change(pod(ended).Deleting()), check.Holds, ""},
		"crashes at once": {historytest.Begin().Add(pod()).
			Change(pod(object{"name": "controller", "restartCount": 1})), check.Broken, "it is unknown how it ended"},
		"another pod of its name": {tell().Change(pod(running(5)).UID("2")), check.Holds, ""},
		"another pod restarts": {tell().Add(in("kube-system", "coredns", running(0))).
			Change(in("kube-system", "coredns", restarted)), check.Holds, ""},
		"known by its label": {
			historytest.Begin().
				Add(in("kube-system", "x", running(0)).Label("app.kubernetes.io/name", "karpenter")).
				Change(in("kube-system", "x", restarted).Label("app.kubernetes.io/name", "karpenter")), check.Broken,
			"was restarted",
		},
		"killed and restarted":  {tell().Add(kill(Harness)).Change(pod(down)).Change(pod(again)), check.Holds, ""},
		"killed, seen up again": {tell().Add(kill(Harness)).Change(pod(again)), check.Holds, ""},
		"killed once, ends twice": {
			tell().Add(kill(Harness)).Change(pod(down)).Change(pod(again)).Change(pod(downAgain)),
			check.Broken, "ended: Error, exit code 137",
		},
		"killed later":          {tell().Change(pod(ended)).Add(kill(Harness)), check.Broken, "ended"},
		"killed by the kubelet": {tell().Add(kill("kubelet")).Change(pod(down)), check.Broken, "ended"},
		"runs in another place": {historytest.Begin().Add(in("elsewhere", "karpenter-1", running(0))), check.Holds, ""},
		"a gap":                 {tell().Gap(karpenter.Pods, "410"), check.Unknown, "gap"},
		"restarted in a gap":    {tell().Gap(karpenter.Pods, "410").Change(pod(restarted)), check.Broken, "was restarted"},
		"its init container ended": {historytest.Begin().Add(initializing(pod(running(0)), object{"running": object{}})).
			Change(initializing(pod(running(0)), object{"terminated": object{}})), check.Holds, ""},
	})
}

func initializing(pod *historytest.Thing, state map[string]any) *historytest.Thing {
	return pod.Set([]any{map[string]any{"name": "init"}}, "spec", "initContainers").
		Set([]any{map[string]any{"name": "init", "state": state}}, "status", "initContainerStatuses")
}

func TestControllerStaysUpElsewhere(t *testing.T) {
	story := historytest.Begin().Add(historytest.Other(karpenter.Pods, "Pod", "karpenter", "karpenter-1").
		Set([]any{map[string]any{"name": "controller", "state": map[string]any{"running": map[string]any{}}}}, "status",
			"containerStatuses"))
	if f := controllerStaysUp().Check(Params{Controller: "karpenter"}).Judge(story.History()); f.Verdict != check.Holds {
		t.Error(f)
	}
	f := controllerStaysUp().Check(Params{Controller: "kube-system"}).Judge(story.History())
	if f.Verdict != check.Vacuous {
		t.Error("its namespace is known, and this is another", f)
	}
}
