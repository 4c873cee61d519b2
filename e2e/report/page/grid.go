package page

import (
	"cmp"
	"maps"
	"slices"

	"github.com/plumbline-e2e/plumbline/e2e/report"
)

// Grid shows specs in several runs, as testgrid does.
type Grid struct {
	Runs []Earlier // the columns; this run is the last
	Rows []Row
}

// Row is one spec in all runs.
type Row struct {
	ID    string
	Cells []Cell // one for each run
}

// Cell is a spec in one run. Without a verdict the spec wasn't in it.
type Cell struct {
	Verdict report.Verdict
	Reason  string
}

// Changed returns the rows of specs that have different verdicts in different runs, or a red one. A spec
// that was left out of a run hasn't changed.
func (g Grid) Changed() []Row { return g.rows(Row.changed) }

// Same returns the other rows.
func (g Grid) Same() []Row { return g.rows(func(r Row) bool { return !r.changed() }) }

func (g Grid) rows(match func(Row) bool) (some []Row) {
	for _, r := range g.Rows {
		if match(r) {
			some = append(some, r)
		}
	}
	return some
}

func (r Row) changed() bool {
	var first report.Verdict
	for _, c := range r.Cells {
		switch {
		case c.Verdict == "":
		case c.Verdict.Red():
			return true
		case first == "":
			first = c.Verdict
		case c.Verdict != first:
			return true
		}
	}
	return false
}

// Grid returns the specs of this run and of earlier ones.
func (r *Run) Grid() Grid {
	this := r.Conformance
	this.Specs = nil
	for _, o := range r.Outcomes { // a run that was cut off has no others
		this.Specs = append(this.Specs, report.Proof{ID: o.ID, Verdict: o.Verdict, Reason: o.Reason})
	}
	g := Grid{Runs: append(slices.Clone(r.Earlier), Earlier{this, r.Name})}
	rows := map[string]*Row{}
	for column, run := range g.Runs {
		for _, s := range run.Specs {
			row := rows[s.ID]
			if row == nil {
				row = &Row{ID: s.ID, Cells: make([]Cell, len(g.Runs))}
				rows[s.ID] = row
			}
			row.Cells[column] = Cell{s.Verdict, s.Reason}
		}
	}
	for _, row := range slices.SortedFunc(maps.Values(rows), func(a, b *Row) int { return cmp.Compare(a.ID, b.ID) }) {
		g.Rows = append(g.Rows, *row)
	}
	return g
}
