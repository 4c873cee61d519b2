package invariant

import (
	"testing"

	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/e2e/history/historytest"
)

func TestNothingMissed(t *testing.T) {
	pod := historytest.Pod("a", "w")
	said := func(component, reason string) *historytest.Story {
		return historytest.Begin().Add(pod).Add(historytest.Report(component, reason, pod).
			Set("it would run on a new c-4x in zone z of NodePool p", "message"))
	}
	judgeEach(t, nothingMissed(), map[string]outcome{
		"fits on no new node": {said(Harness, ReasonFitsNowhere), check.Holds, ""},
		"fits on a new node":  {said(Harness, ReasonFits), check.Broken, "a new c-4x in zone z of NodePool p"},
		"said by others":      {said("somebody", ReasonFits), check.Vacuous, "no pod waited"},
		"nobody was asked":    {historytest.Begin().Add(pod), check.Vacuous, "no pod waited"},
		"another event":       {said(Harness, ReasonHook), check.Vacuous, ""},
	})
}
