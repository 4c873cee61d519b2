package report

import "fmt"

// Row is one invariant over all specs of a run.
type Row struct {
	Name   string `json:"name"`
	Specs  int    `json:"specs"`  // that tested it
	Times  int    `json:"times"`  // how often it was tested, in all of them
	Broken int    `json:"broken"` // specs in which it broke, not on purpose
	Meant  int    `json:"meant"`  // specs that broke it on purpose
	Known  int    `json:"known"`  // specs whose failure is known of the release
}

// Invariants sums up the judgments on each invariant, in their order.
func Invariants(outcomes []Outcome) []Row {
	var rows []Row
	at := map[string]int{}
	for _, o := range outcomes {
		for _, j := range o.Invariants {
			i, seen := at[j.Check]
			if !seen {
				i = len(rows)
				at[j.Check] = i
				rows = append(rows, Row{Name: j.Check})
			}
			r := &rows[i]
			r.Times += j.Tested
			r.Specs += min(1, j.Tested)
			switch {
			case j.Broke() && o.Verdict == Known:
				r.Known++
			case j.Broke():
				r.Broken++
			case j.Verdict == "broken":
				r.Meant++
			}
		}
	}
	return rows
}

func (r Row) mark() string {
	switch {
	case r.Broken > 0:
		return mark(Failed)
	case r.Specs == 0:
		return mark(Skipped)
	default:
		return mark(Passed)
	}
}

func (r Row) alsoBroken() string {
	text := ""
	if r.Broken > 0 {
		text += fmt.Sprintf("; BROKEN in %d", r.Broken)
	}
	if r.Known > 0 {
		text += fmt.Sprintf("; broken in %d known %s", r.Known, plural(r.Known, "failure"))
	}
	if r.Meant > 0 {
		text += fmt.Sprintf("; broken on purpose in %d", r.Meant)
	}
	return text
}
