package main

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// mutantCounts counts verdicts.
type mutantCounts map[string]int

func (c mutantCounts) total() (n int) {
	for _, k := range c {
		n += k
	}
	return n
}

// score is the share of mutants that were caught.
func (c mutantCounts) score() float64 {
	return 100 * float64(c[mutantCaught]) / float64(max(c.total(), 1))
}

// headline says how many of the drawn mutants were caught.
func (m *mutants) headline(drawn []mutant) string {
	c, tried := mutantCounts{}, m.tried(drawn)
	for _, x := range tried {
		c[m.results[x.Name].Verdict]++
	}
	text := fmt.Sprintf("%d of %d mutants caught (%.0f %%), %d survived, %d make no difference to any spec, %d undecided",
		c[mutantCaught], c.total(), c.score(), c[mutantSurvived], c[mutantUnreached], c[mutantUndecided])
	if n := len(drawn) - len(tried); n > 0 {
		text += fmt.Sprintf("; %d not tried yet", n)
	}
	return text
}

// tried returns those of the drawn mutants that have a verdict.
func (m *mutants) tried(drawn []mutant) (tried []mutant) {
	for _, x := range drawn {
		if m.results[x.Name].Verdict != "" {
			tried = append(tried, x)
		}
	}
	return tried
}

// report formats the results as Markdown: the score by package and operator, the survivors, and
// by function what no spec reaches.
func (m *mutants) report(drawn []mutant) string {
	var b strings.Builder
	fmt.Fprintf(&b, "# Mutants\n\n%s. Seed %d, %d of %d drawn.\n", m.headline(drawn), m.seed, len(drawn), len(m.all))
	drawn = m.tried(drawn)
	m.scores(&b, "Package", drawn, func(x mutant) string { return x.Package })
	m.scores(&b, "Operator", drawn, func(x mutant) string { return x.Operator })
	m.reportExcluded(&b)
	b.WriteString("\n## Survivors\n")
	for _, x := range drawn {
		r := m.results[x.Name]
		if r.Verdict != mutantSurvived {
			continue
		}
		fmt.Fprintf(&b, "\n`%s`, line %d; %s\n\n```diff\n- %s\n+ %s\n```\n\nWhy: %s. Seen by %s.\n", x.Name, x.Line, r.line(),
			x.Before, cmp.Or(x.After, "// nothing"), cmp.Or(whyOf(m.survive, x), "nobody has looked at it"),
			strings.Join(r.Saw[:min(8, len(r.Saw))], ", "))
	}
	b.WriteString("\n## No spec reaches\n\n")
	functions := map[string][]string{}
	for _, x := range drawn {
		if m.results[x.Name].Verdict == mutantUnreached {
			of := x.File + " " + x.Function
			functions[of] = append(functions[of], fmt.Sprintf("`%s`, line %d: %s", x.Operator, x.Line,
				cmp.Or(whyOf(m.survive, x), "nobody has looked at it")))
		}
	}
	for _, f := range slices.Sorted(maps.Keys(functions)) {
		fmt.Fprintf(&b, "- %s: %s\n", f, strings.Join(functions[f], "; "))
	}
	b.WriteString("\n## Undecided\n\n")
	for _, x := range drawn {
		if r := m.results[x.Name]; r.Verdict == mutantUndecided {
			fmt.Fprintf(&b, "- `%s`: %s\n", x.Name, r.Why)
		}
	}
	return b.String()
}

// reportExcluded counts the mutants that were not drawn, by reason.
func (m *mutants) reportExcluded(b *strings.Builder) {
	count := map[string]int{}
	meant := m.meant()
	for _, x := range meant {
		count[whyOf(m.excluded, x)]++
	}
	fmt.Fprintf(b, "\n## Not drawn\n\n%d of %d were drawn from. The others:\n\n", count[""], len(meant))
	for _, e := range m.excluded {
		fmt.Fprintf(b, "- %d: %s\n", count[e.Why], e.Why)
	}
}

// scores writes a table of verdicts, by some property of mutants.
func (m *mutants) scores(b *strings.Builder, title string, drawn []mutant, by func(mutant) string) {
	counts := map[string]mutantCounts{}
	for _, x := range drawn {
		if counts[by(x)] == nil {
			counts[by(x)] = mutantCounts{}
		}
		counts[by(x)][m.results[x.Name].Verdict]++
	}
	fmt.Fprintf(b, "\n| %s | mutants | caught | survived | no difference | undecided | score |\n", title)
	b.WriteString("|---|---|---|---|---|---|---|\n")
	for _, key := range slices.Sorted(maps.Keys(counts)) {
		c := counts[key]
		fmt.Fprintf(b, "| %s | %d | %d | %d | %d | %d | %.0f %% |\n", key, c.total(), c[mutantCaught], c[mutantSurvived],
			c[mutantUnreached], c[mutantUndecided], c.score())
	}
}
