package session

import (
	"context"
	"strings"
	"time"

	"github.com/plumbline-e2e/plumbline/e2e/install"
	"github.com/plumbline-e2e/plumbline/e2e/report"
)

// Limits of a quote from the controller's log: the lines around a moment, to fit on a screen.
const (
	quoteBefore = 5 * time.Second
	quoteAfter  = time.Second
	quoteLines  = 15
)

// controllerLog returns the controller's log around a moment, without what the adapter
// tolerates. For a moment before the spec's end it omits later lines: they are about the
// clean-up.
func (s *Session) controllerLog(ctx context.Context, at, ended time.Time) string {
	return quote(s.Provider.Untolerated(s.Provider.Log(ctx)), at, ended)
}

// quote returns the lines around a moment, under a heading. A line without a time, such as one of a
// panic, has that of the line before.
func quote(lines []string, at, ended time.Time) string {
	from, to := at.Add(-quoteBefore), at.Add(quoteAfter)
	if !at.After(ended) && to.After(ended) {
		to = ended
	}
	var around []string
	var t time.Time
	for _, line := range lines {
		if said := install.LineTime(line); !said.IsZero() {
			t = said
		}
		if t.After(from) && !t.After(to) {
			around = append(around, line)
		}
	}
	if len(around) == 0 {
		return ""
	}
	around = install.Excerpt(around, quoteLines)
	for i := range around {
		around[i] = install.Shorten(around[i])
	}
	return "the controller's log at that moment:\n  " + strings.Join(around, "\n  ")
}

// errorsIn groups lines of the log by message, in the order in which they came.
func errorsIn(lines []string) []report.LogError {
	var kinds []report.LogError
	at := map[string]int{}
	for _, line := range lines {
		message := install.LineMessage(line)
		i, seen := at[message]
		if !seen {
			i = len(kinds)
			at[message] = i
			kinds = append(kinds, report.LogError{Message: message, Line: install.Shorten(line)})
		}
		kinds[i].Times++
	}
	return kinds
}
