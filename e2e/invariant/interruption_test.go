package invariant

import (
	"slices"
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/e2e/history"
	"github.com/plumbline-e2e/plumbline/e2e/history/historytest"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
)

// TestJudgeOverAnInterruption checks that a breach on either side of an interruption counts,
// and that the interruption alone is none.
func TestJudgeOverAnInterruption(t *testing.T) {
	g := NewWithT(t)
	pod := func(restarts int) *historytest.Thing {
		return historytest.Other(karpenter.Pods, "Pod", "kube-system", "karpenter-1").Set([]any{map[string]any{
			"name": "controller", "restartCount": int64(restarts), "state": map[string]any{"running": map[string]any{}},
		}}, "status", "containerStatuses")
	}
	steady := func(h *history.History) check.Verdict {
		i := slices.IndexFunc(All(), func(i Invariant) bool { return i.Name == controllerStaysUp().Name })
		return Judge(h, Params{})[i].Verdict
	}
	begin := func() *historytest.Story {
		return historytest.Begin().Add(pod(0)).Start().After(time.Second)
	}
	g.Expect(steady(begin().Gap(karpenter.Pods, "410").Change(pod(0)).History())).To(Equal(check.Unknown))
	g.Expect(steady(begin().Interrupt(karpenter.Pods).Change(pod(0)).History())).To(Equal(check.Holds))
	g.Expect(steady(begin().Interrupt(karpenter.Pods).Change(pod(1)).History())).To(Equal(check.Broken), "after")
	g.Expect(steady(begin().Change(pod(1)).After(time.Second).Interrupt(karpenter.Pods).Change(pod(1)).History())).
		To(Equal(check.Broken), "before")
	g.Expect(steady(begin().Interrupt(karpenter.Pods).Gap(karpenter.Pods, "410").Change(pod(0)).History())).
		To(Equal(check.Unknown), "another gap")
}
