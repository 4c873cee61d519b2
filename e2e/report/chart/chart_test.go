package chart_test

import (
	"testing"

	. "github.com/onsi/gomega"

	"github.com/plumbline-e2e/plumbline/e2e/report/chart"
)

func TestAxesBeginAtZeroAndHoldEverything(t *testing.T) {
	g := NewWithT(t)
	c := chart.New("Nodes", "nodes", "hours", []chart.Curve{
		{Name: "A", Class: "A", Points: []chart.Point{{At: 0, Value: 3}, {At: 10, Value: 37}}},
	})
	var labels []string
	for _, row := range c.Rows {
		labels = append(labels, row.Label)
	}
	g.Expect(labels).To(Equal([]string{"0", "10", "20", "30", "40"}))
	g.Expect(c.Columns[0].At).To(Equal(c.Left))
	g.Expect(c.Rows[0].At).To(Equal(c.Bottom))
	g.Expect(c.Curves[0].Path).To(HavePrefix("M46.0 "))
	g.Expect(c.Curves[0].Path).To(HaveSuffix("L708.0 21.8"))
	svg, err := c.SVG()
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(string(svg)).To(And(HavePrefix("<svg "), ContainSubstring("<title>A</title>")))
}

func TestAChartOfNothingIsEmpty(t *testing.T) {
	g := NewWithT(t)
	c := chart.New("Nodes", "nodes", "hours", []chart.Curve{{Name: "A", Points: []chart.Point{{}}}})
	g.Expect(c.Curves[0].Path).To(BeEmpty())
	g.Expect(c.Rows).To(BeEmpty())
}

func TestNumbersHaveThreeDigits(t *testing.T) {
	g := NewWithT(t)
	for x, want := range map[float64]string{0: "0", 1.2345: "1.23", 12.345: "12.3", 123.45: "123", 12345.6: "12346"} {
		g.Expect(chart.Number(x)).To(Equal(want))
	}
}
