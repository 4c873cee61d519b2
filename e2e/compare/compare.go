package compare

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/plumbline-e2e/plumbline/e2e/measure"
	"github.com/plumbline-e2e/plumbline/e2e/report"
)

// Comparison is what was found of two cells.
type Comparison struct {
	Cells    []Cell        `json:"cells"` // A and B
	Workload string        `json:"workload"`
	Seed     uint64        `json:"seed"`
	Length   time.Duration `json:"length"`  // of the workload, in cluster time
	Repeats  int           `json:"repeats"` // wanted runs of each cell
	Machine  string        `json:"machine"`
	Started  time.Time     `json:"started"`
	Took     time.Duration `json:"took"` // real time, of all
	Runs     []Run         `json:"runs"` // those that ended well
	Failures []string      `json:"failures,omitempty"`
	Notes    []string      `json:"notes,omitempty"`
	Rows     []Row         `json:"rows"` // by Compare
	Broken   []string      `json:"broken,omitempty"`
}

// Run is one workload on one cluster.
type Run struct {
	measure.Result
	Cell      string          `json:"cell"`   // A or B
	Number    int             `json:"number"` // from 1
	Cluster   *report.Cluster `json:"cluster"`
	Recording string          `json:"recording"` // folder, beside the report
	Took      time.Duration   `json:"took"`      // real time, of the workload alone
	Skipped   time.Duration   `json:"skipped"`   // cluster time that moves of the clock passed over
	Moves     int             `json:"moves"`
}

// Verdict says what a figure's ratio is worth.
type Verdict string

// Verdicts of figures.
const (
	Differs Verdict = "differs"
	Same    Verdict = "same"    // no difference can be told from the noise
	Unknown Verdict = "unknown" // too few runs, or no such figure
)

// margin is by how much a ratio must exceed the noise, as a power: by twice as many percent, where they are few.
const margin = 2

// least is the smallest difference that counts. Few runs may be alike by chance.
const least = 0.02

// Row is one figure of both cells.
type Row struct {
	measure.Description
	A       []float64   `json:"a"` // of each run
	B       []float64   `json:"b"`
	MedianA float64     `json:"medianA"`
	MedianB float64     `json:"medianB"`
	Ratio   *float64    `json:"ratio,omitempty"` // nil: A has nothing of it
	Noise   *[2]float64 `json:"noise,omitempty"` // the least and the greatest ratio of two runs of a cell
	Verdict Verdict     `json:"verdict"`
}

// Compare fills in the rows from the runs.
func (c *Comparison) Compare() {
	names := map[string]bool{}
	for _, r := range c.Runs {
		for name := range r.Figures {
			names[name] = true
		}
	}
	c.Rows = nil
	for _, d := range measure.Describe(keys(names)) {
		// What a controller has counted nothing of is not among its metrics.
		absent := math.NaN()
		if strings.Contains(d.Name, ".") {
			absent = 0
		}
		c.Rows = append(c.Rows, NewRow(d, c.values("A", d.Name, absent), c.values("B", d.Name, absent)))
	}
}

func keys(set map[string]bool) (all []string) {
	for name := range set {
		all = append(all, name)
	}
	return all
}

// values returns a figure of each run of a cell. Absent is that of a run without it; NaN: none.
func (c *Comparison) values(cell, name string, absent float64) []float64 {
	var all []float64
	for _, r := range c.Runs {
		if r.Cell != cell {
			continue
		}
		value, has := r.Figures[name]
		if !has {
			value = absent
		}
		if !math.IsNaN(value) {
			all = append(all, value)
		}
	}
	return all
}

// NewRow compares the values of two cells.
func NewRow(d measure.Description, a, b []float64) Row {
	r := Row{Description: d, A: a, B: b, Verdict: Unknown}
	if len(a) == 0 || len(b) == 0 {
		return r
	}
	r.MedianA, r.MedianB = median(a), median(b)
	r.Ratio = ratio(r.MedianB, r.MedianA)
	low, high, known := noise(a, b)
	if known {
		r.Noise = &[2]float64{low, high}
	}
	switch {
	case len(a) < 2 || len(b) < 2:
	case r.MedianA == 0 || r.Ratio == nil || !known: // where ratios say nothing, only whether they are apart
		r.Verdict = verdict(apart(a, b))
	default:
		low, high = min(math.Pow(low, margin), 1-least), max(math.Pow(high, margin), 1+least)
		r.Verdict = verdict(apart(a, b) && (*r.Ratio < low || *r.Ratio > high))
	}
	return r
}

func verdict(differs bool) Verdict {
	if differs {
		return Differs
	}
	return Same
}

// apart reports whether all values of one list are below all of the other.
func apart(a, b []float64) bool {
	return slices.Max(a) < slices.Min(b) || slices.Max(b) < slices.Min(a)
}

// noise returns the range of the ratios of any two values of the same list, if they have ratios.
func noise(lists ...[]float64) (low, high float64, known bool) {
	low, high = 1, 1
	for _, list := range lists {
		smallest, greatest := slices.Min(list), slices.Max(list)
		if smallest <= 0 {
			return 0, 0, false
		}
		low, high = min(low, smallest/greatest), max(high, greatest/smallest)
	}
	return low, high, true
}

func ratio(b, a float64) *float64 {
	switch {
	case a == 0 && b == 0:
		return new(1.0)
	case a == 0:
		return nil
	}
	return new(b / a)
}

func median(values []float64) float64 {
	sorted := slices.Sorted(slices.Values(values))
	n := len(sorted)
	return (sorted[(n-1)/2] + sorted[n/2]) / 2
}

// Row returns the row of a figure, or nil.
func (c *Comparison) Row(name string) *Row {
	i := slices.IndexFunc(c.Rows, func(r Row) bool { return r.Name == name })
	if i < 0 {
		return nil
	}
	return &c.Rows[i]
}

// Judge returns an error for each bound that a ratio breaks. A ratio within its noise breaks none: it is noted.
func (c *Comparison) Judge(bounds []Bound) error {
	var broken []error
	for _, b := range bounds {
		row := c.Row(b.Figure)
		if row == nil || row.Ratio == nil && row.Verdict != Differs {
			broken = append(broken, fmt.Errorf("%s: there is no ratio of this figure", b))
			continue
		}
		over := row.Ratio == nil && b.More || row.Ratio != nil && b.broken(*row.Ratio)
		switch {
		case over && row.Verdict == Same:
			c.Notes = append(c.Notes, fmt.Sprintf("%s: the ratio is %s, but within the noise, %s", b, row.RatioText(),
				row.NoiseText()))
		case over:
			broken = append(broken, fmt.Errorf("%s: the ratio is %s, with a noise of %s", b, row.RatioText(), row.NoiseText()))
		}
	}
	for _, err := range broken {
		c.Broken = append(c.Broken, err.Error())
	}
	return errors.Join(broken...)
}

// WriteJSON writes everything but the curves' details as they are.
func (c *Comparison) WriteJSON(w io.Writer) error {
	e := json.NewEncoder(w)
	e.SetIndent("", " ")
	return e.Encode(c)
}

// RatioText returns the ratio as people read it.
func (r Row) RatioText() string {
	if r.Ratio == nil {
		return "–"
	}
	return fmt.Sprintf("%.2f", *r.Ratio)
}

// NoiseText returns the noise as people read it.
func (r Row) NoiseText() string {
	if r.Noise == nil || len(r.A) < 2 && len(r.B) < 2 {
		return "–"
	}
	return fmt.Sprintf("%.2f to %.2f", r.Noise[0], r.Noise[1])
}
