package providers

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// Mistake is one mistake in an adapter.
type Mistake struct {
	File         string // empty if the adapter was written in Go
	Line, Column int    // from 1; 0 if the place is unknown
	Path         string // such as controller.chart.path; empty for the file as a whole
	Message      string // says what is wrong and what would be right
}

// String returns "file:line:column: path: message", without the parts that are unknown.
func (m Mistake) String() string {
	var b strings.Builder
	if m.File != "" {
		b.WriteString(m.File + ":")
		if m.Line > 0 {
			fmt.Fprintf(&b, "%d:%d:", m.Line, m.Column)
		}
		b.WriteString(" ")
	}
	if m.Path != "" {
		b.WriteString(m.Path + ": ")
	}
	return b.String() + m.Message
}

// Mistakes are all mistakes in an adapter, in the order of the file.
type Mistakes []Mistake

func (ms Mistakes) Error() string {
	if len(ms) == 1 {
		return ms[0].String()
	}
	lines := make([]string, len(ms))
	for i, m := range ms {
		lines[i] = "\n  " + m.String()
	}
	return fmt.Sprintf("the adapter has %d mistakes:%s", len(ms), strings.Join(lines, ""))
}

// position is a place in a file.
type position struct {
	file         string
	line, column int
}

// sorted orders mistakes by their file and their place in it, and removes duplicates.
func (ms Mistakes) sorted() Mistakes {
	ms = slices.Clone(ms)
	slices.SortStableFunc(ms, func(a, b Mistake) int {
		return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
	})
	return slices.Compact(ms)
}

// hint proposes the known name that was probably meant, or lists all known names.
func hint[S ~string](name string, known []S) string {
	if best := Nearest(name, known); best != "" {
		return fmt.Sprintf(", did you mean `%s`?", best)
	}
	return "; known are " + listOf(known)
}

func listOf[S ~string](names []S) string {
	list := make([]string, len(names))
	for i, name := range names {
		list[i] = string(name)
	}
	return strings.Join(list, ", ")
}

// Nearest returns the known name that was probably meant, or "" if none is similar.
func Nearest[S ~string](name string, known []S) string {
	best, distance := "", len(name)/3+1
	for _, k := range known {
		if d := editDistance(strings.ToLower(name), strings.ToLower(string(k))); d <= distance &&
			(best == "" || d < distance) {
			best, distance = string(k), d
		}
	}
	return best
}

// editDistance counts the insertions, deletions and replacements of one
// character, and swaps of two neighbours, that make a into b.
func editDistance(a, b string) int {
	var before []int
	previous := make([]int, len(b)+1)
	for j := range previous {
		previous[j] = j
	}
	for i := range len(a) {
		row := make([]int, len(b)+1)
		row[0] = i + 1
		for j := range len(b) {
			cost := 1
			if a[i] == b[j] {
				cost = 0
			}
			row[j+1] = min(row[j]+1, previous[j+1]+1, previous[j]+cost)
			if i > 0 && j > 0 && a[i] == b[j-1] && a[i-1] == b[j] {
				row[j+1] = min(row[j+1], before[j-1]+1)
			}
		}
		before, previous = previous, row
	}
	return previous[len(b)]
}
