package session

import (
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"github.com/plumbline-e2e/plumbline/e2e/env"
	"github.com/plumbline-e2e/plumbline/e2e/history"
	"github.com/plumbline-e2e/plumbline/e2e/history/historytest"
	"github.com/plumbline-e2e/plumbline/e2e/report"
)

func TestStrayEviction(t *testing.T) {
	taints := func(effect string) []any {
		return []any{map[string]any{"key": "karpenter.sh/unregistered", "effect": effect}}
	}
	evicted := func(reason string) *historytest.Thing {
		return historytest.Pod("p", "w").On("n").
			Set([]any{map[string]any{"type": "DisruptionTarget", "status": "True", "reason": reason}}, "status", "conditions")
	}
	for name, c := range map[string]struct {
		story *historytest.Story
		want  string
	}{
		"the taint is gone": {historytest.Begin().Add(historytest.Node("n").Set(taints("NoExecute"), "spec", "taints")).
			Change(historytest.Node("n")).Add(evicted(byTaintManager)), "pod p on node n"},
		"the taint is there": {historytest.Begin().Add(historytest.Node("n").Set(taints("NoExecute"), "spec", "taints")).
			Add(evicted(byTaintManager)), ""},
		"evicted by Karpenter": {historytest.Begin().Add(historytest.Node("n")).Add(evicted("EvictionByEvictionAPI")), ""},
		"another taint is there": {historytest.Begin().Add(historytest.Node("n").Set(taints("NoSchedule"), "spec", "taints")).
			Add(evicted(byTaintManager)), "pod p on node n"},
	} {
		t.Run(name, func(t *testing.T) {
			h := c.story.History()
			g := NewWithT(t)
			pod, event := strayEviction(h, "default")
			g.Expect(pod).To(Equal(c.want))
			if pod != "" {
				g.Expect(event).To(Equal(len(h.Events())-1), "it is the last event")
			}
		})
	}
}

// A pod that Kubernetes evicts may be what a failure comes of, so that nobody can judge the spec. That counts for nothing
// if the failure was there before, or if all that broke is known of the release.
func TestAStrayEvictionLeavesAFailureInDoubt(t *testing.T) {
	evicted := historytest.Pod("p", "w").On("n").
		Set([]any{map[string]any{"type": "DisruptionTarget", "status": "True", "reason": byTaintManager}},
			"status", "conditions")
	stray := historytest.Begin().Add(historytest.Node("n")).Add(evicted).History()
	broke := func(what string) *env.Failure {
		return env.Broken(report.BrokenWait, what, what, time.Now())
	}
	early := broke("waited for a node")
	early.Broke[0].Event = new(int)
	for name, c := range map[string]struct {
		history *history.History
		failure *env.Failure
		want    report.Verdict
	}{
		"it may have come of it":   {stray, broke("waited for a node"), report.Infra},
		"nothing was tested":       {stray, &env.Failure{Verdict: report.Vacuous}, report.Infra},
		"it came before":           {stray, early, report.Failed},
		"it is known":              {stray, broke("waited for a pod"), report.Failed},
		"no pod was evicted so":    {historytest.Begin().History(), broke("waited for a node"), report.Failed},
		"it is infra for a reason": {stray, env.Infra("etcd died"), report.Infra},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			reason := c.failure.Reason
			checks := &postChecks{
				session: &Session{Place: env.Place{Namespace: "default"}},
				work:    &Work{Known: func(b []report.Broken) bool { return len(b) > 0 && b[0].What == "waited for a pod" }},
			}
			failure := checks.doubt(c.failure, c.history)
			g.Expect(failure.Verdict).To(Equal(c.want))
			g.Expect(failure.Reason).To(HaveSuffix(reason))
		})
	}
	g := NewWithT(t)
	g.Expect((&postChecks{}).doubt(nil, stray)).To(BeNil())
}

// What broke before Kubernetes evicted a pod doesn't come of that.
func TestBrokeBefore(t *testing.T) {
	g := NewWithT(t)
	at := func(event int) report.Broken { return report.Broken{Kind: report.BrokenInvariant, Event: &event} }
	g.Expect(brokeBefore([]report.Broken{{What: "waited for 1 pod"}, at(7)}, 7)).To(BeFalse())
	g.Expect(brokeBefore([]report.Broken{{What: "waited for 1 pod"}, at(6)}, 7)).To(BeTrue())
}
