package e2e

import (
	"bufio"
	"context"
	"encoding/json"
	"slices"
	"strings"
	"time"

	"github.com/plumbline-e2e/plumbline/e2e/report"
)

// Lines that are quoted from the controller's log: those around a moment, no
// more than fit on a screen.
const (
	quoteBefore = 5 * time.Second
	quoteAfter  = time.Second
	quoteLines  = 15
	quoteWidth  = 300
)

// controllerLog is what the controller wrote around a moment, without what the adapter
// tolerates. Of a moment before the spec's end nothing is quoted that came after the end:
// that is about the clean-up.
func (s *Session) controllerLog(ctx context.Context, at, ended time.Time) string {
	return quote(s.Provider.Untolerated(s.logLines(ctx)), at, ended)
}

func quote(lines []string, at, ended time.Time) string {
	from, to := at.Add(-quoteBefore), at.Add(quoteAfter)
	if !at.After(ended) && to.After(ended) {
		to = ended
	}
	var around []string
	for _, line := range lines {
		if t := lineTime(line); t.After(from) && !t.After(to) {
			around = append(around, shorten(line))
		}
	}
	around = around[max(0, len(around)-quoteLines):]
	if len(around) == 0 {
		return ""
	}
	return "the controller's log at that moment:\n  " + strings.Join(around, "\n  ")
}

func (s *Session) logLines(ctx context.Context) []string {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 10*time.Second)
	defer cancel()
	var lines []string
	for _, pod := range s.Provider.Pods(ctx) {
		log, err := s.Cluster.PodLog(ctx, s.Provider.Namespace, pod)
		if err != nil {
			continue // the pod may be gone: there is nothing to quote
		}
		scanner := bufio.NewScanner(log)
		scanner.Buffer(nil, 1<<20)
		for scanner.Scan() {
			lines = append(lines, scanner.Text())
		}
		_ = log.Close()
	}
	return lines
}

// logSince is the controller's log from a moment on. Lines that don't say
// their time belong to it.
func (s *Session) logSince(ctx context.Context, began time.Time) []string {
	return slices.DeleteFunc(s.logLines(ctx), func(line string) bool {
		t := lineTime(line)
		return !t.IsZero() && t.Before(began)
	})
}

// errorsIn sorts lines of the log by what they say, in the order in which
// they came.
func errorsIn(lines []string) []report.LogError {
	var kinds []report.LogError
	at := map[string]int{}
	for _, line := range lines {
		message := messageOf(line)
		i, seen := at[message]
		if !seen {
			i = len(kinds)
			at[message] = i
			kinds = append(kinds, report.LogError{Message: message, Line: shorten(line)})
		}
		kinds[i].Times++
	}
	return kinds
}

// messageOf is who says what in a line of a structured log, without what
// differs from time to time; for another line its beginning.
func messageOf(line string) string {
	var fields struct{ Controller, Message string }
	if json.Unmarshal([]byte(line), &fields) != nil || fields.Message == "" {
		return line[:min(len(line), 60)]
	}
	return strings.TrimPrefix(fields.Controller+": "+fields.Message, ": ")
}

// lineTime is the time of a line of a structured log; zero if it has none.
func lineTime(line string) time.Time {
	var fields struct {
		Time time.Time `json:"time"`
	}
	if json.Unmarshal([]byte(line), &fields) != nil {
		return time.Time{}
	}
	return fields.Time
}

// shorten cuts a line that is too wide to read.
func shorten(line string) string {
	if runes := []rune(line); len(runes) > quoteWidth {
		return string(runes[:quoteWidth]) + "…"
	}
	return line
}
