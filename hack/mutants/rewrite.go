package main

import (
	"cmp"
	"fmt"
	"go/ast"
	"os"
	"slices"
	"strings"
)

// mutant is a mistake that a switch turns on.
type mutant struct {
	// ID is the value of MUTANT that turns it on, from 1. It changes when the source does.
	ID int `json:"id"`
	// Name is its file, function, operator and, from the second on, ordinal in the function. It
	// stays the same as long as the function does.
	Name     string `json:"name"`
	Package  string `json:"package"` // in the module, such as pkg/controllers/disruption
	File     string `json:"file"`
	Line     int    `json:"line"`
	Function string `json:"function"`
	Operator string `json:"operator"`
	Before   string `json:"before"`
	After    string `json:"after"`
}

// edit inserts text before and after a part of a file. Parts are nodes of the syntax, so that
// they nest.
type edit struct {
	from, to      int // offsets
	before, after string
	order         int // of edits of the same part, the first is the outermost
}

// wrap inserts text around a node.
func (f *file) wrap(n ast.Node, before, after string) {
	f.edits = append(f.edits, edit{f.offset(n.Pos()), f.offset(n.End()), before, after, len(f.edits)})
}

// replace replaces an operator, which no other edit touches.
func (f *file) replace(at, length int, text string) {
	f.edits = append(f.edits, edit{at, at + length, "\x00", text, len(f.edits)})
}

// add adds a mutant and returns its number.
func (f *file) add(where place, operator, before, after string) int {
	id := f.first + len(f.mutants) + 1
	name := fmt.Sprintf("%s:%s:%s", f.rel, where.function, operator)
	f.names[name]++
	if n := f.names[name]; n > 1 {
		name = fmt.Sprintf("%s:%d", name, n)
	}
	folder := f.rel[:max(0, strings.LastIndex(f.rel, "/"))]
	f.mutants = append(f.mutants, mutant{
		ID: id, Name: name, Package: folder, File: f.rel, Line: f.pkg.Fset.Position(where.node.Pos()).Line,
		Function: where.function, Operator: operator, Before: oneLine(before), After: oneLine(after),
	})
	return id
}

func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }

// write replaces the file by its mutated text. Lines keep their numbers.
func (f *file) write() error {
	if len(f.edits) == 0 {
		return nil
	}
	type insertion struct {
		at     int
		closes bool
		size   int // of the part
		order  int
		text   string
		skip   int // bytes of the file that it replaces
	}
	var all []insertion
	for _, e := range f.edits {
		if e.before == "\x00" {
			all = append(all, insertion{e.from, false, 0, e.order, e.after, e.to - e.from})
			continue
		}
		all = append(all, insertion{e.from, false, e.to - e.from, e.order, e.before, 0},
			insertion{e.to, true, e.to - e.from, e.order, e.after, 0})
	}
	slices.SortStableFunc(all, func(a, b insertion) int {
		switch {
		case a.at != b.at:
			return cmp.Compare(a.at, b.at)
		case a.closes != b.closes: // what ends here ends before anything begins
			if a.closes {
				return -1
			}
			return 1
		case a.closes: // the innermost ends first
			return cmp.Or(cmp.Compare(a.size, b.size), cmp.Compare(b.order, a.order))
		default:
			return cmp.Or(cmp.Compare(b.size, a.size), cmp.Compare(a.order, b.order))
		}
	})
	var out strings.Builder
	at := 0
	put := func(i insertion) {
		out.Write(f.text[at:i.at])
		out.WriteString(i.text)
		at = i.at + i.skip
	}
	name := f.syntax.Name
	put(insertion{at: f.offset(name.End()), text: fmt.Sprintf("; import mutant %q", f.module+"/"+switchesPath)})
	for _, i := range all {
		put(i)
	}
	out.Write(f.text[at:])
	return os.WriteFile(f.path, []byte(out.String()), 0o600)
}
