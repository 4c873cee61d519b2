package report

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"time"
)

// Terminal shows a run: a line for each finished spec, and a summary. It is not safe for
// concurrent use.
type Terminal struct {
	out     io.Writer
	total   int // specs that will run, skipped ones included
	workers int
	began   time.Time
	all     []Outcome

	clusters []Cluster

	Part bool // of a run: what invariants judged is shown when the parts are merged
}

// NewTerminal returns a Terminal for total specs and that many workers.
func NewTerminal(out io.Writer, total, workers int) *Terminal {
	return &Terminal{out: out, total: total, workers: max(1, workers), began: time.Now()}
}

// Step prints what is being done.
func (t *Terminal) Step(text string) { fmt.Fprintf(t.out, "· %s\n", text) }

// Fatal prints why the run can't go on.
func (t *Terminal) Fatal(text string) { fmt.Fprintf(t.out, "\n✗ %s\n", indentRest(text)) }

// Add shows the outcome of one spec. Of specs that are skipped for the same reason it shows
// only the first. The summary counts them.
func (t *Terminal) Add(o Outcome) {
	t.all = append(t.all, o)
	if o.Verdict == Skipped && t.skipReasons()[o.Reason] > 1 {
		return
	}
	width := len(fmt.Sprint(t.total))
	fmt.Fprintf(t.out, "[%*d/%d] %s %-7s %6s  %s%s%s\n", width, len(t.all), t.total,
		mark(o.Verdict), o.Verdict, Round(o.Wall()), o.title(), tested(o), t.timeLeft())
	if o.Reason != "" {
		fmt.Fprintf(t.out, "        %s\n", indentRest(o.Reason))
	}
	if o.Note != "" {
		fmt.Fprintf(t.out, "        note: %s\n", indentRest(o.Note))
	}
	if o.Verdict.Red() {
		t.failure(o)
	}
}

// tested returns how often a spec's claims were tested, and how many invariants were.
func tested(o Outcome) string {
	if len(o.Claims) == 0 {
		return ""
	}
	bent := ""
	if o.Real > 0 {
		bent = fmt.Sprintf("%s at speed %.0f; ", Round(o.Took), o.speed())
	}
	return fmt.Sprintf("  (%stested %s, and %d of %d invariants)",
		bent, times(Tested(o.Claims)), countTested(o.Invariants), len(o.Invariants))
}

func countTested(all []Judged) (n int) {
	for _, j := range all {
		if j.Tested > 0 {
			n++
		}
	}
	return n
}

func times(n int) string {
	if n == 1 {
		return "once"
	}
	return fmt.Sprintf("%d times", n)
}

func (t *Terminal) failure(o Outcome) {
	if o.Detail != "" {
		fmt.Fprintf(t.out, "        %s\n", indentRest(o.Detail))
	}
	if o.History != "" {
		fmt.Fprintf(t.out, "        recording: %s\n", o.History)
	}
	if o.Rerun != "" {
		fmt.Fprintf(t.out, "        run it alone: %s\n", o.Rerun)
	}
}

// timeLeft estimates the time that is left from the specs so far.
func (t *Terminal) timeLeft() string {
	left := t.total - len(t.all)
	if left <= 0 {
		return ""
	}
	var took time.Duration
	ran := 0
	for _, o := range t.all {
		if o.Verdict != Skipped {
			took += o.Wall()
			ran++
		}
	}
	if ran == 0 {
		return ""
	}
	return fmt.Sprintf("  (about %s left)", Round(took/time.Duration(ran)*time.Duration(left)/time.Duration(t.workers)))
}

// On adds a cluster on which specs run.
func (t *Terminal) On(c Cluster) {
	if !slices.Contains(t.clusters, c) {
		t.clusters = append(t.clusters, c)
	}
}

// Conformance returns what the run proves so far.
func (t *Terminal) Conformance() Conformance {
	c := Conformance{
		Format: Format, Started: t.began.UTC(), Took: time.Since(t.began).Round(time.Second).String(),
		Clusters: t.clusters, Green: t.green(), NotReached: t.notReached(),
	}
	c.Add(t.all)
	return c
}

// Span returns the time from the run's start until now.
func (t *Terminal) Span() Span { return Span{Started: t.began, Ended: time.Now()} }

// notReached returns how many specs have not ended.
func (t *Terminal) notReached() int { return max(0, t.total-len(t.all)) }

// Outcomes returns everything that was added.
func (t *Terminal) Outcomes() []Outcome { return t.all }

// Summary ends the display. It lists what did not pass and counts the verdicts. What needs
// attention comes last. It reports whether the run is green.
func (t *Terminal) Summary(artifacts string) bool {
	fmt.Fprintln(t.out)
	t.skipped()
	t.list(Known)
	if !t.Part {
		t.invariants()
	}
	t.logged()
	fmt.Fprintln(t.out)
	t.list(Infra, Vacuous, Failed)
	fmt.Fprintf(t.out, "%s in %s%s; artifacts in %s, index.html shows them\n",
		Counts(t.all, t.notReached()), Round(time.Since(t.began)), t.speeds(), artifacts)
	return t.green()
}

// Merged shows a run whose parts ran elsewhere, as Summary does.
func (t *Terminal) Merged(out io.Writer, run Span, artifacts string) bool {
	t.out, t.began = out, time.Now().Add(-run.Ended.Sub(run.Started))
	return t.Summary(artifacts)
}

// skipped shows how many specs were skipped, by reason. The only spec of a reason is named.
func (t *Terminal) skipped() {
	skips := t.skipReasons()
	for _, o := range t.all {
		n := skips[o.Reason]
		if o.Verdict != Skipped || n == 0 {
			continue
		}
		delete(skips, o.Reason)
		what := o.Sentence()
		if n > 1 {
			what = fmt.Sprintf("%d specs", n)
		}
		fmt.Fprintf(t.out, "%s %-7s %s: %s\n", mark(Skipped), Skipped, what, firstLine(o.Reason))
	}
}

func (t *Terminal) skipReasons() map[string]int {
	skips := map[string]int{}
	for _, o := range t.all {
		if o.Verdict == Skipped {
			skips[o.Reason]++
		}
	}
	return skips
}

// green reports whether all specs ended well. It is false if none ran: that proves nothing.
func (t *Terminal) green() bool {
	proven := false
	for _, o := range t.all {
		if o.Verdict.Red() {
			return false
		}
		proven = proven || o.Verdict != Skipped
	}
	return proven && t.notReached() == 0
}

// list lists the specs with these verdicts, in the order of the verdicts.
func (t *Terminal) list(verdicts ...Verdict) {
	for _, v := range verdicts {
		for _, o := range t.all {
			if o.Verdict != v {
				continue
			}
			fmt.Fprintf(t.out, "%s %-7s %s\n          %s\n", mark(v), v, o.title(), firstLine(o.Reason))
			if v.Red() && o.Rerun != "" {
				fmt.Fprintf(t.out, "          run it alone: %s\n", o.Rerun)
			}
		}
	}
}

// speeds returns how much cluster time the specs took, if that is not real time.
func (t *Terminal) speeds() string {
	var took, real time.Duration
	leaps := ""
	for _, o := range t.all {
		if o.Took > 24*time.Hour { // the clock leaped, which says nothing about its speed
			leaps = ", beside those that let days pass"
			continue
		}
		took += o.Took
		real += o.Wall()
	}
	if took == real {
		return ""
	}
	return fmt.Sprintf(" (specs: %s of clusters' time, at speed %.1f%s)",
		Round(took), took.Seconds()/real.Seconds(), leaps)
}

// invariants shows in how many specs each invariant was tested, how often, and where it broke.
func (t *Terminal) invariants() {
	rows := Invariants(t.all)
	if len(rows) == 0 {
		return
	}
	fmt.Fprintf(t.out, "\ninvariants, judged over every recording:\n")
	for _, r := range rows {
		fmt.Fprintf(t.out, "  %s %4d %-6s %10s  %s%s\n",
			r.mark(), r.Specs, plural(r.Specs, "spec")+",", times(r.Times), r.Name, r.alsoBroken())
	}
}

// logged shows each kind of error in the controller's log once.
func (t *Terminal) logged() {
	kinds := LogErrors(t.all)
	if len(kinds) == 0 {
		return
	}
	fmt.Fprintf(t.out, "\nerrors in the controller's log (controller.logs.tolerate in the adapter names harmless ones):\n")
	for _, e := range kinds {
		fmt.Fprintf(t.out, "  %s: %s, first\n    %s\n", e.Message, times(e.Times), e.Line)
	}
}

func mark(v Verdict) string {
	switch {
	case v == Passed:
		return "✓"
	case v.Red():
		return "✗"
	default:
		return "–"
	}
}

// plural returns word in the form for n things.
func plural(n int, word string) string {
	if n == 1 {
		return word
	}
	return word + "s"
}

// Round returns a duration for people: 4.2s, 1m9s, 3h0m0s.
func Round(d time.Duration) string {
	if d < time.Minute {
		return fmt.Sprintf("%.1fs", d.Seconds())
	}
	return d.Round(time.Second).String()
}

func indentRest(s string) string {
	return strings.ReplaceAll(strings.TrimRight(s, "\n"), "\n", "\n        ")
}

func firstLine(s string) string {
	line, _, _ := strings.Cut(s, "\n")
	return line
}
