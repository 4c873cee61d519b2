package workload

import (
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"github.com/plumbline-e2e/plumbline/fixtures"
)

func TestConsolidateAfterIsWaitedFor(t *testing.T) {
	g := NewWithT(t)
	g.Expect(consolidateAfter(fixtures.NodePool().ConsolidateAfter("5m").Unstructured())).To(Equal(5 * time.Minute))
	g.Expect(consolidateAfter(fixtures.NodePool().Unstructured())).To(BeZero(), "Never")
	g.Expect(consolidateAfter(fixtures.Deployment(1).Unstructured())).To(BeZero())
}
