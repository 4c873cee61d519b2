package compare

import (
	"bytes"
	_ "embed" // the page's template
	"fmt"
	"html/template"
	"io"
	"time"

	"github.com/plumbline-e2e/plumbline/e2e/report"
	"github.com/plumbline-e2e/plumbline/e2e/report/chart"
	"github.com/plumbline-e2e/plumbline/e2e/report/page"
)

// Scale is what was measured of clusters of different sizes.
type Scale struct {
	Machine string          `json:"machine"`
	Started time.Time       `json:"started"`
	Cluster *report.Cluster `json:"cluster"`
	Sizes   []Size          `json:"sizes"`
}

// Size is what was measured of one size.
type Size struct {
	Nodes  int    `json:"nodes"`
	Pods   int    `json:"pods"`
	Steps  []Step `json:"steps"`
	Events int    `json:"events"` // that were recorded
	Gaps   int    `json:"gaps"`   // of the recording
}

// Step is one step of a size.
type Step struct {
	Name string  `json:"name"`
	Took float64 `json:"took"` // seconds of the cluster's time
	Real float64 `json:"real"` // seconds of real time
	// Left says how far the step had come when its time was over; empty: it ended.
	Left      string    `json:"left,omitempty"`
	Processes []Process `json:"processes"`
}

// String returns the step's name, and how far it has come if it didn't end.
func (s Step) String() string {
	if s.Left == "" {
		return s.Name
	}
	return fmt.Sprintf("%s: not yet (%s)", s.Name, s.Left)
}

// Process is what one process of a cluster, or those of one name, used.
type Process struct {
	Name   string  `json:"name"`
	CPU    float64 `json:"cpu"`    // seconds
	Memory float64 `json:"memory"` // the most up to the step's end, in MB
}

// Share returns which part of all CPU time of the step a process used.
func (s Step) Share(p Process) float64 {
	sum := 0.0
	for _, other := range s.Processes {
		sum += other.CPU
	}
	if sum == 0 {
		return 0
	}
	return p.CPU / sum
}

// Cores returns how many cores a process used in the step.
func (s Step) Cores(p Process) float64 { return p.CPU / s.Real }

//go:embed scale.html
var scaleHTML string

// WritePage writes the curves as one HTML file that needs no network.
func (s Scale) WritePage(w io.Writer) error {
	t, err := template.New("scale.html").Funcs(template.FuncMap{
		"css":     page.Style,
		"charts":  chart.Style,
		"number":  chart.Number,
		"percent": func(x float64) string { return fmt.Sprintf("%.1f %%", 100*x) },
		"moment":  func(t time.Time) string { return t.UTC().Format("2006-01-02 15:04:05 UTC") },
		"letter":  letter,
	}).Parse(scaleHTML)
	if err != nil {
		return fmt.Errorf("the template of sizes: %w", err)
	}
	var text bytes.Buffer // all or nothing
	if err := t.Execute(&text, s); err != nil {
		return fmt.Errorf("the template of sizes: %w", err)
	}
	_, err = text.WriteTo(w)
	return err
}

func letter(i int) string { return string(rune('A' + i%6)) }

// Drawing is a chart with the names of its curves.
type Drawing struct{ chart.Chart }

// Drawings returns how each step's time, and each process's memory and CPU time, grow with the nodes.
func (s Scale) Drawings() []Drawing {
	var took, memory, cpu []chart.Curve
	for _, size := range s.Sizes {
		used := map[string]float64{}
		for _, step := range size.Steps {
			if step.Left == "" {
				took = grow(took, step.Name, size.Nodes, step.Took)
			}
			for _, p := range step.Processes {
				used[p.Name] += p.CPU
			}
		}
		if len(size.Steps) == 0 {
			continue
		}
		for _, p := range size.Steps[len(size.Steps)-1].Processes {
			memory = grow(memory, p.Name, size.Nodes, p.Memory)
			cpu = grow(cpu, p.Name, size.Nodes, used[p.Name])
		}
	}
	var all []Drawing
	for _, d := range []struct {
		title, unit string
		curves      []chart.Curve
	}{
		{"Time of each step", "seconds of the cluster’s time", took},
		{"CPU time of all steps", "seconds", cpu},
		{"Memory, the most", "MB", memory},
	} {
		if len(d.curves) > 0 {
			all = append(all, Drawing{chart.New(d.title, d.unit, "nodes", d.curves)})
		}
	}
	return all
}

// grow adds a point to the curve of a name. Curves begin at nothing.
func grow(curves []chart.Curve, name string, nodes int, value float64) []chart.Curve {
	p := chart.Point{At: float64(nodes), Value: value}
	for i := range curves {
		if curves[i].Name == name {
			curves[i].Points = append(curves[i].Points, p)
			return curves
		}
	}
	return append(curves, chart.Curve{Name: name, Class: letter(len(curves)), Points: []chart.Point{p}})
}
