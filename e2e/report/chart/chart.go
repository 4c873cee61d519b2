// Package chart draws curves as SVG, for pages of the reports' look.
package chart

import (
	"bytes"
	_ "embed" // the templates
	"fmt"
	"html/template"
	"math"
)

// Point is a value at a place of the other axis.
type Point struct {
	At    float64 `json:"at"`
	Value float64 `json:"value"`
}

//go:embed chart.html
var html string

//go:embed chart.css
var css string

// Style returns the style sheet of charts, which follows that of package page.
func Style() template.CSS { return template.CSS(css) } //nolint:gosec // it is ours

// SVG returns the drawing.
func (c Chart) SVG() (template.HTML, error) {
	t, err := template.New("chart.html").Parse(html)
	if err != nil {
		return "", err
	}
	var text bytes.Buffer
	err = t.Execute(&text, c)
	return template.HTML(text.String()), err //nolint:gosec // the template has escaped it
}

// Number returns a value as people read it: with three digits, or all that are before the point.
func Number(x float64) string {
	switch {
	case x == 0:
		return "0"
	case math.Abs(x) >= 1000:
		return fmt.Sprintf("%.0f", x)
	default:
		return fmt.Sprintf("%.3g", x)
	}
}

// Curve is one line of a chart.
type Curve struct {
	Name   string
	Class  string // A to F, by which lines are told apart
	Points []Point
	Path   string // set by New
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

// New lays out curves, with both axes from zero.
func New(title, unit, along string, curves []Curve) Chart {
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
