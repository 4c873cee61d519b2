package suites_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/Masterminds/semver/v3"
	. "github.com/onsi/gomega"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/providers"
	"github.com/plumbline-e2e/plumbline/suites"
)

// each calls f for every spec, as a subtest named by its sentence.
func each(t *testing.T, f func(g *WithT, sentence string, spec *e2e.Spec)) {
	t.Helper()
	for _, suite := range slices.Concat(suites.All(), suites.Apart()) {
		for _, spec := range suite.Specs() {
			sentence := suite.Name + " " + spec.Name
			t.Run(sentence, func(t *testing.T) { f(NewWithT(t), sentence, spec) })
		}
	}
}

// TestAllListsEveryFolder finds suites that All and Apart omit.
func TestAllListsEveryFolder(t *testing.T) {
	g := NewWithT(t)
	entries, err := os.ReadDir(".")
	g.Expect(err).NotTo(HaveOccurred())
	var folders, listed []string
	for _, entry := range entries {
		if entry.IsDir() {
			folders = append(folders, entry.Name())
		}
	}
	for _, suite := range slices.Concat(suites.All(), suites.Apart()) {
		g.Expect(suite.Specs()).NotTo(BeEmpty(), suite.Name)
		listed = append(listed, filepath.Base(filepath.Dir(suite.Specs()[0].Source())))
	}
	g.Expect(listed).To(ConsistOf(folders))
}

// TestSentences checks the full name "provider: suite spec" of each spec.
func TestSentences(t *testing.T) {
	wellFormed := regexp.MustCompile(`^([a-z]+: )?[a-z][A-Za-z0-9 ,'-]*[A-Za-z0-9]$`)
	said := map[string]bool{}
	each(t, func(g *WithT, sentence string, _ *e2e.Spec) {
		g.Expect(sentence).To(MatchRegexp(wellFormed.String()))
		g.Expect(len(sentence)).To(BeNumerically("<=", 100), "a line of the terminal")
		g.Expect(sentence).NotTo(MatchRegexp(`(?i)\b(should|test|spec|correctly|properly)\b`), "words that promise nothing")
		g.Expect(said[sentence]).To(BeFalse(), "said twice")
		said[sentence] = true
	})
}

// TestIDs checks that a spec's ID is unique and names the file that declares it.
func TestIDs(t *testing.T) {
	seen := map[string]bool{}
	each(t, func(g *WithT, _ string, spec *e2e.Spec) {
		file, _, _ := strings.Cut(spec.Source(), ".go:")
		folder, name := filepath.Base(filepath.Dir(file)), strings.ReplaceAll(filepath.Base(file), "_", "-")
		g.Expect(spec.ID() + "/").To(HavePrefix(folder + "/" + name + "/"))
		g.Expect(strings.Count(spec.ID(), "/")).To(BeNumerically("<=", 2))
		g.Expect(seen[spec.ID()]).To(BeFalse(), "twice")
		seen[spec.ID()] = true
	})
}

// TestDeclarations checks the fields of specs.
func TestDeclarations(t *testing.T) {
	each(t, func(g *WithT, _ string, spec *e2e.Spec) {
		g.Expect(spec.Needs).NotTo(BeEmpty(), "a provider without pools must not fail it")
		for _, need := range spec.Needs {
			g.Expect(providers.Capabilities()).To(ContainElement(need))
		}
		g.Expect(slices.Contains(spec.Labels, "leaps")).To(Equal(spec.Leaps()), "a label by which to leave it out")
		for _, known := range spec.Known {
			g.Expect(known.Issue).To(MatchRegexp(
				`^https://github\.com/[^/]+/[^/]+/((issues|pull)/\d+|blob/main/suites/findings\.md#[a-z-]+)$`))
			g.Expect(known.Reason).NotTo(BeEmpty())
			_, err := semver.NewConstraint(known.Releases)
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(known.Breaks).NotTo(BeEmpty())
			g.Expect(known.Breaks).NotTo(ContainElement("disruption budgets are never exceeded"),
				"no release is known to break them")
		}
	})
}

// TestPromisesNameTheirSource checks that each spec's comment has a promise and its source.
func TestPromisesNameTheirSource(t *testing.T) {
	each(t, func(g *WithT, _ string, spec *e2e.Spec) {
		file, line := parsed(g, spec)
		promise := declaration(file, line)
		g.Expect(promise).NotTo(BeNil(), "no declaration at %s", spec.Source())
		g.Expect(promise.Doc.Text()).To(ContainSubstring("Source: "))
		g.Expect(len(strings.Fields(promise.Doc.Text()))).To(BeNumerically(">=", 25), "too short to say why a user cares")
	})
}

// TestBodiesAreStraight checks that functions that work with the cluster are short and have no
// branch and no loop.
func TestBodiesAreStraight(t *testing.T) {
	bodies := 0
	inEveryFile(t, func(g *WithT, file source) {
		ast.Inspect(file.tree, func(n ast.Node) bool {
			kind, body := function(n)
			if body == nil || !takesEnv(kind) {
				return true
			}
			bodies++
			g.Expect(file.line(body.End())-file.line(body.Pos())).To(BeNumerically("<=", 30),
				"lines of the function in line %d", file.line(n.Pos()))
			ast.Inspect(body, func(n ast.Node) bool {
				switch n.(type) {
				case *ast.IfStmt, *ast.ForStmt, *ast.RangeStmt, *ast.SwitchStmt, *ast.SelectStmt, *ast.GoStmt:
					g.Expect(n).To(BeNil(), "a branch or a loop in line %d", file.line(n.Pos()))
				}
				return true
			})
			return true
		})
	})
	NewWithT(t).Expect(bodies).To(BeNumerically(">", 200), "it looks at what it means")
}

// TestOnePromiseAFile checks that a file declares one spec or one table of them.
func TestOnePromiseAFile(t *testing.T) {
	declared := map[string]int{} // lines by file
	each(t, func(g *WithT, _ string, spec *e2e.Spec) {
		file, line := parsed(g, spec)
		at := file.line(declaration(file, line).Pos())
		if other, before := declared[file.name]; before {
			g.Expect(at).To(Equal(other), "two promises in %s", file.name)
		}
		declared[file.name] = at
	})
}

// TestEachWordIsSaidOnce checks that no two suites have a function of the same name. If both
// mean the same, it belongs in package check. Otherwise readers confuse them.
func TestEachWordIsSaidOnce(t *testing.T) {
	g := NewWithT(t)
	saidBy := map[string]string{} // suites by function
	inEveryFile(t, func(_ *WithT, file source) {
		for _, d := range file.tree.Decls {
			f, ok := d.(*ast.FuncDecl)
			if !ok || f.Recv != nil {
				continue
			}
			if other, said := saidBy[f.Name.Name]; said {
				g.Expect(file.tree.Name.Name).To(Equal(other), "both have a function %s", f.Name.Name)
			}
			saidBy[f.Name.Name] = file.tree.Name.Name
		}
	})
	g.Expect(saidBy).NotTo(BeEmpty())
}

// function returns the type and body of a node that is a function.
func function(n ast.Node) (*ast.FuncType, *ast.BlockStmt) {
	switch f := n.(type) {
	case *ast.FuncDecl:
		return f.Type, f.Body
	case *ast.FuncLit:
		return f.Type, f.Body
	default:
		return nil, nil
	}
}

// takesEnv tells whether a function has a parameter *e2e.Env.
func takesEnv(f *ast.FuncType) bool {
	return slices.ContainsFunc(f.Params.List, func(p *ast.Field) bool {
		pointer, ok := p.Type.(*ast.StarExpr)
		if !ok {
			return false
		}
		named, ok := pointer.X.(*ast.SelectorExpr)
		return ok && named.Sel.Name == "Env"
	})
}

// TestSuitesKnowNoProvider checks that no suite names a provider. Suites must not fit one.
func TestSuitesKnowNoProvider(t *testing.T) {
	inEveryFile(t, func(g *WithT, file source) {
		text, err := os.ReadFile(file.name)
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(string(text)).NotTo(MatchRegexp(`(?i)\b(kwok|aws|ec2|azure|aks|gcp|alibaba|capi)\b`))
	})
}

// inEveryFile calls f for every file of a suite, as a subtest with the file's name.
func inEveryFile(t *testing.T, f func(g *WithT, file source)) {
	t.Helper()
	files, err := filepath.Glob("*/*.go")
	g := NewWithT(t)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(files).NotTo(BeEmpty())
	for _, name := range files {
		if !strings.HasSuffix(name, "_test.go") {
			t.Run(name, func(t *testing.T) {
				g := NewWithT(t)
				f(g, parse(g, name))
			})
		}
	}
}

type source struct {
	name string
	set  *token.FileSet
	tree *ast.File
}

func (s source) line(p token.Pos) int { return s.set.Position(p).Line }

func parse(g *WithT, name string) source {
	s := source{name: name, set: token.NewFileSet()}
	var err error
	s.tree, err = parser.ParseFile(s.set, name, nil, parser.ParseComments|parser.SkipObjectResolution)
	g.Expect(err).NotTo(HaveOccurred())
	return s
}

// parsed returns the file and line in which a spec is declared.
func parsed(g *WithT, spec *e2e.Spec) (file source, line int) {
	name, number, _ := strings.Cut(filepath.Base(spec.Source()), ":")
	line, err := strconv.Atoi(number)
	g.Expect(err).NotTo(HaveOccurred(), spec.Source())
	return parse(g, filepath.Join(filepath.Base(filepath.Dir(spec.Source())), name)), line
}

// declaration returns the top-level declaration at a line.
func declaration(s source, line int) *ast.GenDecl {
	i := slices.IndexFunc(s.tree.Decls, func(d ast.Decl) bool {
		g, ok := d.(*ast.GenDecl)
		return ok && g.Tok == token.VAR && s.line(g.Pos()) <= line && line <= s.line(g.End())
	})
	if i < 0 {
		return nil
	}
	return s.tree.Decls[i].(*ast.GenDecl)
}
