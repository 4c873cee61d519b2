package session

import (
	"testing"

	. "github.com/onsi/gomega"

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

// What broke before Kubernetes evicted a pod doesn't come of that.
func TestBrokeBefore(t *testing.T) {
	g := NewWithT(t)
	at := func(event int) report.Broken { return report.Broken{Kind: report.BrokenInvariant, Event: &event} }
	g.Expect(brokeBefore([]report.Broken{{What: "waited for 1 pod"}, at(7)}, 7)).To(BeFalse())
	g.Expect(brokeBefore([]report.Broken{{What: "waited for 1 pod"}, at(6)}, 7)).To(BeTrue())
}
