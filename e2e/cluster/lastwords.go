package cluster

import (
	"slices"
	"strings"
)

// before is how many lines in front of a panic are kept: programs log the
// reason there.
const before = 4

// LastWords returns the n lines of a log that tell best how its program ended:
// the last ones or, where it panicked, those from shortly before the last panic
// on, since what follows is only the stacks of its goroutines.
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
