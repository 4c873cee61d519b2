package install

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"time"

	"github.com/plumbline-e2e/plumbline/e2e/cluster"
)

// logWithin bounds the time to read the controller's log.
const logWithin = 10 * time.Second

// lineWidth bounds the part of a line that is shown, in characters.
const lineWidth = 300

// Log returns the log so far of the controller's existing pods, even if ctx is over.
func (i *Installed) Log(ctx context.Context) []string {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), logWithin)
	defer cancel()
	var lines []string
	for _, pod := range i.Pods(ctx) {
		lines = append(lines, podLog(ctx, i.cluster, i.Namespace, pod)...)
	}
	return lines
}

// LogSince returns the controller's log since a time, and all lines without a time.
func (i *Installed) LogSince(ctx context.Context, began time.Time) []string {
	return slices.DeleteFunc(i.Log(ctx), func(line string) bool {
		t := LineTime(line)
		return !t.IsZero() && t.Before(began)
	})
}

// LineMessage returns the controller and message of a structured log line, without the varying
// fields. Of another line it returns the beginning.
func LineMessage(line string) string {
	var fields struct{ Controller, Message string }
	switch {
	case json.Unmarshal([]byte(line), &fields) != nil || fields.Message == "":
		return line[:min(len(line), 60)]
	case fields.Controller == "":
		return fields.Message
	}
	return fields.Controller + ": " + fields.Message
}

// LineTime returns the time of a structured log line, or zero if it has none.
func LineTime(line string) time.Time {
	var fields struct {
		Time time.Time `json:"time"`
	}
	if json.Unmarshal([]byte(line), &fields) != nil {
		return time.Time{}
	}
	return fields.Time
}

// earlierErrors is how many errors Excerpt puts in front of lines without one.
const earlierErrors = 3

// Excerpt returns the n lines of a log that best show what went wrong: those from shortly before the
// last panic, or else the last ones. If none of these is about an error, the last errors before
// them take the place of the first ones.
func Excerpt(lines []string, n int) []string {
	last := cluster.LastWords(lines, n)
	if slices.ContainsFunc(last, alarming.MatchString) {
		return last
	}
	errors := unexpectedLines(lines[:len(lines)-len(last)], func(string) bool { return false })
	errors = errors[max(0, len(errors)-earlierErrors):]
	return slices.Concat(errors, last[len(errors):])
}

// telling returns the line of a termination message that says why the program ended: its last one
// about an error, or its only one. The message may be the end of the program's log.
func telling(message string) string {
	lines := strings.Split(strings.TrimSpace(message), "\n")
	for _, line := range slices.Backward(lines) {
		if alarming.MatchString(line) || len(lines) == 1 {
			return Shorten(line)
		}
	}
	return ""
}

// Shorten cuts a line that is too long to read.
func Shorten(line string) string {
	if runes := []rune(line); len(runes) > lineWidth {
		return string(runes[:lineWidth]) + "…"
	}
	return line
}
