package check_test

import (
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/e2e/history/historytest"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
)

func TestWhatIsInProgress(t *testing.T) {
	created := func(pod *historytest.Thing, ago time.Duration) *historytest.Thing {
		return pod.Set(time.Now().Add(-ago).UTC().Format(time.RFC3339), "metadata", "creationTimestamp")
	}
	ready := func() *historytest.Thing { return historytest.NodeClaim("c").True(karpenter.Initialized) }
	for name, c := range map[string]struct {
		thing *historytest.Thing
		want  bool
	}{
		"a node that is there":    {ready(), false},
		"a node that is launched": {historytest.NodeClaim("c").True(karpenter.Launched), true},
		"a node that ends":        {ready().Deleting(), true},
		"a pod that runs":         {historytest.Pod("p", "app").Phase("Running"), false},
		"a pod that waits":        {created(historytest.Pod("p", "app"), time.Minute), true},
		"a pod that ends":         {historytest.Pod("p", "app").Phase("Running").Deleting(), true},
		"a pod without hope":      {created(historytest.Pod("p", "app"), time.Hour), false},
	} {
		h := historytest.Begin().Add(c.thing).History()
		NewWithT(t).Expect(check.InProgress(h.End(), 15*time.Minute)).To(Equal(c.want), name)
	}
}
