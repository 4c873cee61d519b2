package compare

import (
	"bytes"
	"fmt"
	"text/tabwriter"

	"github.com/plumbline-e2e/plumbline/e2e/report"
	"github.com/plumbline-e2e/plumbline/e2e/report/chart"
)

// Table returns the figures for a terminal.
func (c *Comparison) Table() string {
	var b bytes.Buffer
	for _, cell := range c.Cells {
		fmt.Fprintf(&b, "%s: %s\n", cell.Name, cell.Title())
	}
	fmt.Fprintf(&b, "workload %s, seed %d, %d and %d runs, in %s\n\n", c.Workload, c.Seed, len(c.runs("A")),
		len(c.runs("B")), report.Round(c.Took))
	t := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "\tA\tB\tB/A\tnoise\t\t")
	for _, r := range c.Rows {
		says := ""
		if r.Verdict == Differs {
			says = "differs"
		}
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%s\t%s\t\n", r.Label(), r.text(r.A, r.MedianA), r.text(r.B, r.MedianB),
			r.RatioText(), r.NoiseText(), says)
	}
	_ = t.Flush() // into memory
	return b.String()
}

// Label returns the figure's title and unit.
func (r Row) Label() string {
	if r.Unit == "" {
		return r.Title
	}
	return r.Title + ", " + r.Unit
}

func (r Row) text(values []float64, median float64) string {
	if len(values) == 0 {
		return "–"
	}
	return chart.Number(median)
}

// TextA and TextB return the medians as people read them.
func (r Row) TextA() string { return r.text(r.A, r.MedianA) }

// TextB returns B's median.
func (r Row) TextB() string { return r.text(r.B, r.MedianB) }

func (c *Comparison) runs(cell string) (all []Run) {
	for _, r := range c.Runs {
		if r.Cell == cell {
			all = append(all, r)
		}
	}
	return all
}
