package main

import (
	"fmt"
	"strings"

	"github.com/plumbline-e2e/plumbline/e2e/check"
)

// most is how long a comment can be on GitHub, in characters. Bytes are counted here, which are never fewer.
const most = 65_536

// reserve is kept free for what ends a comment.
const reserve = 500

// poster writes a comment, and leaves out what doesn't fit.
type poster struct {
	text strings.Builder
	cut  int // rows
}

// fits reports whether there is room for text.
func (p *poster) fits(text string) bool { return p.text.Len()+len(text) <= most-reserve }

// table writes the rows that fit under a head, and reports whether any does.
func (p *poster) table(head string, rows []string) bool {
	if len(rows) == 0 || !p.fits(head+rows[0]) {
		p.cut += len(rows)
		return false
	}
	p.text.WriteString(head)
	for i, row := range rows {
		if !p.fits(row) {
			p.cut += len(rows) - i
			break
		}
		p.text.WriteString(row)
	}
	p.text.WriteString("\n")
	return true
}

// list writes a heading, and the lines that fit under it.
func (p *poster) list(heading string, lines []string) { p.table(heading+"\n\n", append(lines, "")) }

// fold writes a table that is folded away.
func (p *poster) fold(what, head string, rows []string) {
	if p.table(fmt.Sprintf("<details><summary>%s</summary>\n\n%s", check.Words(len(rows), what), head), rows) {
		p.text.WriteString("</details>\n\n")
	}
}

// String returns the comment.
func (p *poster) String() string {
	if p.cut == 0 {
		return p.text.String()
	}
	return p.text.String() + fmt.Sprintf("Without %s that GitHub has no room for in a comment, of %d characters; "+
		"index.html in the artifacts has all.\n", check.Words(p.cut, "rows"), most)
}
