package main

import (
	"context"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/invariant"
)

// catalogue prints suites/README.md: the coverage of each suite and the promise of each spec.
// It reads both from comments in the sources, so it must run at the root of the repository.
func catalogue(context.Context, []string) error {
	var b strings.Builder
	b.WriteString("# The catalogue\n\n<!-- Written by `make catalogue` from the specs' declarations. -->\n\n")
	total := 0
	for _, suite := range allSuites() {
		total += len(suite.Specs())
	}
	fmt.Fprintf(&b, "%d specs, in the order of a node's life. A spec is skipped, with the reason, where the provider "+
		"lacks what it\n"+
		"needs, where a feature gate is off, where the release doesn't make the promise yet and where its CRDs lack a "+
		"field.\nThe specs of `upgrade` have runs of their own, `make upgrade`; `make e2e` runs all others.\n\n", total)
	for _, suite := range allSuites() {
		fmt.Fprintf(&b, "- [%s](#%s): %d\n", suite.Title(), strings.ReplaceAll(strings.ToLower(suite.Title()), " ", "-"),
			len(suite.Specs()))
	}
	fmt.Fprintf(&b, "- [Invariants](#invariants): %d\n", len(invariant.All()))
	for _, suite := range allSuites() {
		section, err := chapter(suite)
		if err != nil {
			return fmt.Errorf("suite %q: %w", suite.Name, err)
		}
		b.WriteString(section)
	}
	b.WriteString(invariantsChapter())
	fmt.Print(b.String())
	return nil
}

// invariantsChapter returns the table of invariants, which judge every spec's recording.
func invariantsChapter() string {
	var b strings.Builder
	b.WriteString("\n## Invariants\n\nThey judge every recording: of each spec, and by `plumbline record` of a cluster " +
		"of yours, unless the last column\nsays why not. Where what one needs never happened, it says so, and has proved " +
		"nothing.\n\n" +
		"| Invariant | Source | On a cluster of yours |\n|---|---|---|\n")
	for _, i := range invariant.All() {
		elsewhere := "judged"
		if i.OnlyHere != "" {
			elsewhere = "not judged: " + i.OnlyHere
		}
		fmt.Fprintf(&b, "| %s | %s | %s |\n", cell(i.Name), cell(i.Source), cell(elsewhere))
	}
	return b.String()
}

func chapter(suite *e2e.Suite) (string, error) {
	specs := suite.Specs()
	folder := filepath.Join("suites", filepath.Base(filepath.Dir(specs[0].Source())))
	read, err := readSources(folder)
	if err != nil {
		return "", err
	}
	var b strings.Builder
	fmt.Fprintf(&b, "\n## %s\n\n%s\n\n| ID | It ... | Promise | Needs | Since | Source |\n|---|---|---|---|---|---|\n",
		suite.Title(), strings.TrimSpace(read.about))
	last := ""
	for _, spec := range specs {
		name, at, err := declaration(spec)
		if err != nil {
			return "", err
		}
		promise, source := read.promise(name, at)
		if said := promise; said == last {
			promise, source = "as above", ""
		} else {
			last = said
		}
		fmt.Fprintf(&b, "| [%s](%s/%s) | %s | %s | %s | %s | %s |\n", spec.ID(), filepath.Base(folder), name,
			spec.Name, promise, needsOf(spec), sinceOf(spec), source)
	}
	return b.String(), nil
}

// declaration returns the base name of the file, and the line, of a spec's declaration.
func declaration(spec *e2e.Spec) (file string, line int, err error) {
	name, number, _ := strings.Cut(filepath.Base(spec.Source()), ":")
	line, err = strconv.Atoi(number)
	if err != nil {
		return "", 0, fmt.Errorf("spec %q: the place of its declaration is unknown: %q", spec.Name, spec.Source())
	}
	return name, line, nil
}

// commented is the parsed folder of a suite.
type commented struct {
	about string // the package's comment without its first words
	set   *token.FileSet
	files map[string]*ast.File // by name
}

func readSources(folder string) (commented, error) {
	c := commented{set: token.NewFileSet(), files: map[string]*ast.File{}}
	names, err := filepath.Glob(filepath.Join(folder, "*.go"))
	if err != nil {
		return c, err
	}
	if len(names) == 0 {
		return c, fmt.Errorf("%s holds no sources: %w; run this at the root of the repository", folder, os.ErrNotExist)
	}
	for _, name := range names {
		file, err := parser.ParseFile(c.set, name, nil, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			return c, err
		}
		c.files[filepath.Base(name)] = file
		if file.Doc != nil {
			c.about = strings.TrimPrefix(file.Doc.Text(), "Package "+file.Name.Name+" ")
			c.about = strings.ToUpper(c.about[:1]) + c.about[1:]
		}
	}
	return c, nil
}

// promise splits the comment of the declaration at a line into the promise and its source.
// Both are escaped for a cell of a table.
func (c commented) promise(file string, at int) (promise, source string) {
	for _, d := range c.files[file].Decls {
		g, ok := d.(*ast.GenDecl)
		if !ok || at < c.set.Position(g.Pos()).Line || at > c.set.Position(g.End()).Line {
			continue
		}
		before, after, _ := strings.Cut(g.Doc.Text(), "Source: ")
		return cell(line(before)), cell(line(after))
	}
	return "", ""
}

// line removes the line breaks from a comment's text.
func line(text string) string { return strings.Join(strings.Fields(text), " ") }

func needsOf(spec *e2e.Spec) string {
	var all []string
	for _, need := range spec.Needs {
		all = append(all, string(need))
	}
	for _, hook := range spec.Hooks {
		all = append(all, "hook "+string(hook))
	}
	if spec.Gate != "" {
		all = append(all, "gate "+spec.Gate)
	}
	all = append(all, spec.Labels...)
	return strings.Join(all, ", ")
}

func sinceOf(spec *e2e.Spec) string {
	said := entry{SinceKarpenter: spec.Since.Karpenter, SinceKubernetes: spec.Since.Kubernetes}.sinceText()
	for _, known := range spec.Known {
		said = strings.TrimSpace(fmt.Sprintf("%s broken in %s ([known](%s))", said, known.Releases, known.Issue))
	}
	return strings.TrimPrefix(said, ",")
}
