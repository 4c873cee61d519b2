package compare

import (
	"bytes"
	_ "embed" // the page's template
	"fmt"
	"html/template"
	"io"
	"math"
	"slices"
	"time"

	"github.com/plumbline-e2e/plumbline/e2e/report"
	"github.com/plumbline-e2e/plumbline/e2e/report/chart"
	"github.com/plumbline-e2e/plumbline/e2e/report/page"
)

//go:embed compare.html
var html string

// WritePage writes the comparison as one HTML file that needs no network.
func (c *Comparison) WritePage(w io.Writer) error {
	t, err := template.New("compare.html").Funcs(template.FuncMap{
		"css":      page.Style,
		"charts":   chart.Style,
		"duration": report.Round,
		"number":   chart.Number,
		"moment":   func(t time.Time) string { return t.UTC().Format("2006-01-02 15:04:05 UTC") },
	}).Parse(html)
	if err != nil {
		return fmt.Errorf("the comparison's template: %w", err)
	}
	var text bytes.Buffer // all or nothing
	if err := t.Execute(&text, c); err != nil {
		return fmt.Errorf("the comparison's template: %w", err)
	}
	_, err = text.WriteTo(w)
	return err
}

// Differing returns the figures that differ.
func (c *Comparison) Differing() (all []Row) {
	for _, r := range c.Rows {
		if r.Verdict == Differs {
			all = append(all, r)
		}
	}
	return all
}

// Noisy reports whether the noise is known.
func (c *Comparison) Noisy() bool { return len(c.runs("A")) > 1 && len(c.runs("B")) > 1 }

// Charts returns the curves of the page.
func (c *Comparison) Charts() []chart.Chart {
	along, unit := "hours", 1.0
	if c.Length < 3*time.Hour {
		along, unit = "minutes", 60
	}
	var all []chart.Chart
	for _, k := range []struct {
		title, unit string
		of          func(Run) []chart.Point
	}{
		{"Nodes", "nodes", func(r Run) []chart.Point { return r.Nodes }},
		{"Price of all nodes", "per hour", func(r Run) []chart.Point { return r.Price }},
		{"Pods that wait", "pods", func(r Run) []chart.Point { return r.Waiting }},
	} {
		var curves []chart.Curve
		for _, r := range c.Runs {
			if points := slices.Clone(k.of(r)); len(points) > 0 {
				for i := range points {
					points[i].At *= unit
				}
				name := fmt.Sprintf("%s, run %d", r.Cell, r.Number)
				curves = append(curves, chart.Curve{Name: name, Class: r.Cell, Points: points})
			}
		}
		if len(curves) > 0 {
			all = append(all, chart.New(k.title, k.unit, along, curves))
		}
	}
	return all
}

// Place is where a row's ratio and its noise lie on a scale from a quarter to four times, in percent.
type Place struct{ Ratio, NoiseFrom, NoiseWidth float64 }

// Place returns where the ratio is drawn, or nil.
func (r Row) Place() *Place {
	if r.Ratio == nil || *r.Ratio <= 0 {
		return nil
	}
	at := func(ratio float64) float64 { return 50 + 25*math.Max(-2, math.Min(2, math.Log2(ratio))) }
	p := &Place{Ratio: at(*r.Ratio)}
	if r.Noise != nil {
		p.NoiseFrom, p.NoiseWidth = at(r.Noise[0]), at(r.Noise[1])-at(r.Noise[0])
	}
	return p
}
