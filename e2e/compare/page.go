package compare

import (
	"bytes"
	_ "embed" // the page's template
	"fmt"
	"html/template"
	"io"
	"math"
	"time"

	"github.com/plumbline-e2e/plumbline/e2e/measure"
	"github.com/plumbline-e2e/plumbline/e2e/report"
	"github.com/plumbline-e2e/plumbline/e2e/report/page"
)

//go:embed compare.html
var html string

// WritePage writes the comparison as one HTML file that needs no network.
func (c *Comparison) WritePage(w io.Writer) error {
	t, err := template.New("compare.html").Funcs(template.FuncMap{
		"css":      page.Style,
		"duration": report.Round,
		"number":   Number,
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

// Charts returns the curves of the page.
func (c *Comparison) Charts() []Chart {
	var all []Chart
	for _, k := range []struct {
		title, unit string
		of          func(Run) []measure.Point
	}{
		{"Nodes", "nodes", func(r Run) []measure.Point { return r.Nodes }},
		{"Price of all nodes", "per hour", func(r Run) []measure.Point { return r.Price }},
		{"Pods that wait", "pods", func(r Run) []measure.Point { return r.Waiting }},
	} {
		var curves []Curve
		for _, r := range c.Runs {
			if points := k.of(r); len(points) > 0 {
				curves = append(curves, Curve{Name: fmt.Sprintf("%s, run %d", r.Cell, r.Number), Class: r.Cell, Points: points})
			}
		}
		if len(curves) > 0 {
			all = append(all, NewChart(k.title, k.unit, "hours", curves))
		}
	}
	return all
}

// Curve is one line of a chart.
type Curve struct {
	Name   string
	Class  string // A or B, by which lines are told apart
	Points []measure.Point
	Path   string // set by NewChart
}

// Tick is a labelled place of an axis.
type Tick struct {
	At    float64
	Label string
}

// Chart is a drawing of curves.
type Chart struct {
	Title, Unit, Along   string
	Curves               []Curve
	Width, Height        float64
	Left, Bottom         float64 // of the axes
	Rows, Columns        []Tick
	RowsRight, LabelLeft float64
}

// Sizes of charts, in units of SVG.
const (
	chartWidth, chartHeight = 720.0, 190.0
	marginLeft, marginRight = 46.0, 12.0
	marginTop, marginBottom = 10.0, 22.0
)

// NewChart lays out curves, with both axes from zero.
func NewChart(title, unit, along string, curves []Curve) Chart {
	c := Chart{
		Title: title, Unit: unit, Along: along, Curves: curves, Width: chartWidth, Height: chartHeight,
		Left: marginLeft, Bottom: chartHeight - marginBottom, RowsRight: chartWidth - marginRight, LabelLeft: marginLeft - 6,
	}
	right, top := 0.0, 0.0
	for _, curve := range curves {
		for _, p := range curve.Points {
			right, top = math.Max(right, p.At), math.Max(top, p.Value)
		}
	}
	stepX, stepY := niceStep(right/8), niceStep(top/4)
	top = math.Ceil(top/stepY) * stepY
	x := func(v float64) float64 { return c.Left + v/right*(chartWidth-marginLeft-marginRight) }
	y := func(v float64) float64 { return c.Bottom - v/top*(chartHeight-marginTop-marginBottom) }
	if right <= 0 || top <= 0 {
		return c
	}
	for v := 0.0; v <= right*1.001; v += stepX {
		c.Columns = append(c.Columns, Tick{x(v), Number(v)})
	}
	for v := 0.0; v <= top*1.001; v += stepY {
		c.Rows = append(c.Rows, Tick{y(v), Number(v)})
	}
	for i := range c.Curves {
		var path bytes.Buffer
		for n, p := range c.Curves[i].Points {
			fmt.Fprintf(&path, "%c%.1f %.1f", "ML"[min(n, 1)], x(p.At), y(p.Value))
		}
		c.Curves[i].Path = path.String()
	}
	return c
}

// niceStep returns the next 1, 2 or 5 times a power of ten.
func niceStep(least float64) float64 {
	if least <= 0 {
		return 1
	}
	power := math.Pow(10, math.Floor(math.Log10(least)))
	for _, n := range []float64{1, 2, 5} {
		if n*power >= least {
			return n * power
		}
	}
	return 10 * power
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
