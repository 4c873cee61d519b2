package check_test

import (
	"testing"

	. "github.com/onsi/gomega"

	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/e2e/history/historytest"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
)

func TestWhatHoldsAPod(t *testing.T) {
	pod := func() *historytest.Thing {
		return historytest.Pod("a", "app").Phase("Running").Ready().Label("app", "app")
	}
	budget := func(namespace, app string, allowed int64) *historytest.Thing {
		return historytest.Other(karpenter.PodDisruptionBudgets, "PodDisruptionBudget", namespace, "keep").
			Set(app, "spec", "selector", "matchLabels", "app").Set(allowed, "status", "disruptionsAllowed")
	}
	healthy := func(current, desired int64) *historytest.Thing {
		return budget("default", "app", 0).Set(current, "status", "currentHealthy").Set(desired, "status", "desiredHealthy")
	}
	always := budget("default", "app", 0).Set("AlwaysAllow", "spec", "unhealthyPodEvictionPolicy")
	for name, c := range map[string]struct {
		pod, budget *historytest.Thing
		held        bool
	}{
		"none are allowed":                {pod(), budget("default", "app", 0), true},
		"one is allowed":                  {pod(), budget("default", "app", 1), false},
		"another namespace":               {pod(), budget("other", "app", 0), false},
		"another label":                   {pod(), budget("default", "else", 0), false},
		"the pod is being deleted":        {pod().Deleting(), budget("default", "app", 0), false},
		"the pod has not begun":           {pod().Phase("Pending"), budget("default", "app", 0), false},
		"unready, and others are missing": {pod().False(karpenter.Ready), healthy(1, 2), true},
		"unready, and enough others are":  {pod().False(karpenter.Ready), healthy(2, 2), false},
		"ready, and no other is wanted":   {pod(), healthy(2, 2), true},
		"unready pods may always go":      {pod().False(karpenter.Ready), always, false},
		"ready ones may not":              {pod(), always, true},
		"no drain waits for the pod":      {tolerant(pod()), budget("default", "app", 0), false},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			w := historytest.Begin().Add(c.pod, c.budget).Start().History().Start()
			want := ""
			if c.held {
				want = "PodDisruptionBudget keep allows no disruption"
			}
			g.Expect(check.HeldBy(w, w.List(karpenter.Pods)[0])).To(Equal(want))
		})
	}
}

func tolerant(pod *historytest.Thing) *historytest.Thing {
	return pod.Set([]any{map[string]any{"key": karpenter.DisruptedTaint, "operator": "Exists"}}, "spec", "tolerations")
}
