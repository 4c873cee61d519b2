package deletioncost

import (
	"testing"

	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"

	"github.com/plumbline-e2e/plumbline/e2e/history/historytest"
	"github.com/plumbline-e2e/plumbline/fixtures"
)

func TestEachPodCostsLessThanEachOther(t *testing.T) {
	low, high := fixtures.Deployment(2), fixtures.Deployment(1)
	pod := func(name string, of *fixtures.Workload, cost string) *historytest.Thing {
		return historytest.Pod(name, of.GetName()).Phase("Running").Annotate(corev1.PodDeletionCost, cost)
	}
	for _, row := range []struct {
		what          string
		pods          []*historytest.Thing
		ok, exercised bool
	}{
		{"lower", []*historytest.Thing{pod("a", low, "-3"), pod("b", low, "-2"), pod("c", high, "-1")}, true, true},
		{"one is equal", []*historytest.Thing{pod("a", low, "-3"), pod("b", low, "-1"), pod("c", high, "-1")}, false, true},
		{"numbers, not texts", []*historytest.Thing{pod("a", low, "-10"), pod("c", high, "-9")}, true, true},
		{"no cost", []*historytest.Thing{pod("a", low, "-3"), pod("c", high, "")}, true, false},
	} {
		g := NewWithT(t)
		ok, exercised := lessThan(high, low).Holds(historytest.Begin().Add(row.pods...).History().End())
		g.Expect(ok).To(Equal(row.ok), row.what)
		g.Expect(exercised).To(Equal(row.exercised), row.what)
	}
}
