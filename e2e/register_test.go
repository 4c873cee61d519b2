package e2e

import (
	"testing"

	"github.com/onsi/ginkgo/v2"
	"github.com/onsi/ginkgo/v2/types"
	. "github.com/onsi/gomega"

	"github.com/plumbline-e2e/plumbline/e2e/report"
)

// Ginkgo's own times are cluster time. Skipping ends a body with a panic, as failing does.
func TestEachNodeReportsItsRealTime(t *testing.T) {
	body := func(f func()) func(ginkgo.SpecContext) { return inRealTime(func(ginkgo.SpecContext) { f() }) }
	ginkgo.BeforeSuite(body(func() {}))
	ginkgo.Describe("a tree", func() {
		ginkgo.It("passes", body(func() {}))
		ginkgo.It("skips", body(func() { ginkgo.Skip("why not") }))
	})
	var nodes types.SpecReports
	ginkgo.ReportAfterSuite("keeps the report", func(r ginkgo.Report) { nodes = r.SpecReports })
	g := NewWithT(t)
	g.Expect(ginkgo.RunSpecs(t, "a tree")).To(BeTrue())

	reported := nodes.WithLeafNodeType(types.NodeTypeIt | types.NodeTypeBeforeSuite)
	g.Expect(reported).To(HaveLen(3))
	for _, n := range reported {
		g.Expect(n.ReportEntries).To(HaveLen(1), n.FullText())
		g.Expect(n.ReportEntries[0].Name).To(Equal(report.SpanEntry))
		span := n.ReportEntries[0].GetRawValue().(report.Span)
		g.Expect(span.Started).To(And(BeTemporally(">=", n.StartTime), BeTemporally("<=", span.Ended)))
		g.Expect(span.Ended).To(BeTemporally("<=", n.EndTime))
	}
}
