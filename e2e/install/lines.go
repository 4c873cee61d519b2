package install

import (
	"context"
	"encoding/json"
	"slices"
	"time"
)

// logWithin is how long it may take to read the controller's log.
const logWithin = 10 * time.Second

// lineWidth is how much of a line is shown, in characters.
const lineWidth = 300

// Log returns the lines of the controller's log so far, also if ctx is over; without those
// of a pod that is gone.
func (i *Installed) Log(ctx context.Context) []string {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), logWithin)
	defer cancel()
	var lines []string
	for _, pod := range i.Pods(ctx) {
		lines = append(lines, podLog(ctx, i.cluster, i.Namespace, pod)...)
	}
	return lines
}

// LogSince returns the controller's log from a moment on. Lines that don't say
// their time belong to it.
func (i *Installed) LogSince(ctx context.Context, began time.Time) []string {
	return slices.DeleteFunc(i.Log(ctx), func(line string) bool {
		t := LineTime(line)
		return !t.IsZero() && t.Before(began)
	})
}

// LineMessage returns who says what in a line of a structured log, without what
// differs from time to time; for another line its beginning.
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

// LineTime returns the time of a line of a structured log; zero if it has none.
func LineTime(line string) time.Time {
	var fields struct {
		Time time.Time `json:"time"`
	}
	if json.Unmarshal([]byte(line), &fields) != nil {
		return time.Time{}
	}
	return fields.Time
}

// Shorten cuts a line that is too wide to read.
func Shorten(line string) string {
	if runes := []rune(line); len(runes) > lineWidth {
		return string(runes[:lineWidth]) + "…"
	}
	return line
}
