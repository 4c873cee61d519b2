// Package page renders a run as one HTML file that needs no network: what a maintainer opens
// after a run, from disk or from a CI's artifacts.
package page

import (
	"bytes"
	"cmp"
	_ "embed" // the page's parts
	"fmt"
	"html/template"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/plumbline-e2e/plumbline/e2e/report"
)

// Run is a run as the page shows it.
type Run struct {
	report.Conformance
	Name     string           // of its folder
	Outcomes []report.Outcome // in any order
	Ended    bool             // false: it was cut off, and Conformance is empty but for the provider
	// Links has the page's relative links to a spec's recording and timeline, by its ID.
	Links map[string]Links
	// Earlier are other runs of the same provider, the oldest first.
	Earlier []Earlier
}

// Links are relative to the page; each may be missing.
type Links struct{ Recording, Timeline string }

// Earlier is another run.
type Earlier struct {
	report.Conformance
	Name string // of its folder
}

//go:embed page.html
var html string

//go:embed page.css
var css string

//go:embed page.js
var js string

// Style returns the style sheet, for other pages of this look.
func Style() template.CSS { return template.CSS(css) } //nolint:gosec // it is ours

// Write writes the page.
func (r *Run) Write(w io.Writer) error {
	page, err := template.New("page.html").Funcs(template.FuncMap{
		"css":      Style,
		"js":       func() template.JS { return template.JS(js) }, //nolint:gosec // it is ours
		"mark":     mark,
		"duration": report.Round,
		"tested":   report.Tested,
		"moment":   func(t time.Time) string { return t.UTC().Format("2006-01-02 15:04:05 UTC") },
		"anchor":   func(id string) string { return "spec-" + strings.ReplaceAll(id, "/", "-") },
		"lower":    strings.ToLower,
	}).Parse(html)
	if err != nil {
		return fmt.Errorf("the report's template: %w", err)
	}
	var text bytes.Buffer // all or nothing
	if err := page.Execute(&text, view{r, r.cards()}); err != nil {
		return fmt.Errorf("the report's template: %w", err)
	}
	_, err = text.WriteTo(w)
	return err
}

// view is what the template sees.
type view struct {
	*Run
	Cards map[string]Card // by the specs' IDs
}

// Card is one spec with its links.
type Card struct {
	report.Outcome
	Links
}

// Red reports whether the spec failed the run.
func (c Card) Red() bool { return c.Verdict.Red() }

func (r *Run) cards() map[string]Card {
	cards := map[string]Card{}
	for _, o := range r.Outcomes {
		cards[o.ID] = Card{o, r.Links[o.ID]}
	}
	return cards
}

// Red returns the specs that failed the run, in the order of the verdicts.
func (r *Run) Red() []report.Outcome {
	return r.with(report.Failed, report.Vacuous, report.Infra)
}

// Known returns the failures that are known of the release.
func (r *Run) Known() []report.Outcome { return r.with(report.Known) }

// Passed returns the specs that passed.
func (r *Run) Passed() []report.Outcome { return r.with(report.Passed) }

func (r *Run) with(verdicts ...report.Verdict) (all []report.Outcome) {
	for _, v := range verdicts {
		for _, o := range r.sorted() {
			if o.Verdict == v {
				all = append(all, o)
			}
		}
	}
	return all
}

// sorted returns the outcomes by the specs' IDs.
func (r *Run) sorted() []report.Outcome {
	return slices.SortedFunc(slices.Values(r.Outcomes), func(a, b report.Outcome) int { return cmp.Compare(a.ID, b.ID) })
}

// Verdict counts a verdict.
type Verdict struct {
	report.Verdict
	N     int
	Share float64 // of all, in percent
}

// Verdicts counts the verdicts of some outcomes, without those that none has.
func Verdicts(all []report.Outcome) (counts []Verdict) {
	for _, v := range report.Verdicts() {
		n := 0
		for _, o := range all {
			if o.Verdict == v {
				n++
			}
		}
		if n > 0 {
			counts = append(counts, Verdict{v, n, 100 * float64(n) / float64(len(all))})
		}
	}
	return counts
}

// Verdicts counts the run's verdicts.
func (r *Run) Verdicts() []Verdict { return Verdicts(r.Outcomes) }

// Suite is the outcomes of one suite.
type Suite struct {
	Name     string
	Outcomes []report.Outcome
}

// Suites returns the outcomes by suite.
func (r *Run) Suites() (all []Suite) {
	of := map[string][]report.Outcome{}
	for _, o := range r.sorted() {
		of[o.Suite] = append(of[o.Suite], o)
	}
	for _, name := range slices.Sorted(maps.Keys(of)) {
		all = append(all, Suite{name, of[name]})
	}
	return all
}

// Verdicts counts the suite's verdicts.
func (s Suite) Verdicts() []Verdict { return Verdicts(s.Outcomes) }

// Took returns how long the suite's specs took by their clusters' clocks, added up.
func (s Suite) Took() (sum time.Duration) {
	for _, o := range s.Outcomes {
		sum += o.Took
	}
	return sum
}

// Wall returns how long they took in real time, added up.
func (s Suite) Wall() (sum time.Duration) {
	for _, o := range s.Outcomes {
		sum += o.Wall()
	}
	return sum
}

// Skipped is the specs that were skipped for one reason.
type Skipped struct {
	Reason   string
	Outcomes []report.Outcome
}

// Skipped returns the skipped specs, those of the commonest reason first.
func (r *Run) Skipped() (all []Skipped) {
	at := map[string]int{}
	for _, o := range r.with(report.Skipped) {
		i, seen := at[o.Reason]
		if !seen {
			i = len(all)
			at[o.Reason] = i
			all = append(all, Skipped{Reason: o.Reason})
		}
		all[i].Outcomes = append(all[i].Outcomes, o)
	}
	slices.SortStableFunc(all, func(a, b Skipped) int { return cmp.Compare(len(b.Outcomes), len(a.Outcomes)) })
	return all
}

// Invariants sums up the judgments on each invariant.
func (r *Run) Invariants() []report.Row { return report.Invariants(r.Outcomes) }

// Errors returns each kind of error in the controller's log once.
func (r *Run) Errors() []report.LogError { return report.LogErrors(r.Outcomes) }

// Gate is a feature gate that is on or off.
type Gate struct {
	Name string
	On   bool
}

// GateList returns the feature gates by name.
func (r *Run) GateList() (all []Gate) {
	for _, name := range slices.Sorted(maps.Keys(r.Gates)) {
		all = append(all, Gate{name, r.Gates[name]})
	}
	return all
}

func mark(v report.Verdict) string {
	switch {
	case v == report.Passed:
		return "✓"
	case v.Red():
		return "✗"
	case v == report.Known:
		return "≈"
	default:
		return "–"
	}
}
