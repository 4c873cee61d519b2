package cluster

import (
	"slices"
	"strings"
)

// before is the number of lines kept in front of a panic: programs log the reason there.
const before = 4

// LastWords returns the n lines of a log that best show how its program ended: the last ones,
// or those from shortly before the last panic. Goroutine stacks follow it.
func LastWords(lines []string, n int) []string {
	from := max(0, len(lines)-n)
	for i, line := range slices.Backward(lines) {
		if strings.HasPrefix(line, "panic: ") || strings.HasPrefix(line, "fatal error: ") {
			from = min(from, max(0, i-before))
			break
		}
	}
	return lines[from:min(from+n, len(lines))]
}
