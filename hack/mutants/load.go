package main

import (
	"embed"
	"errors"
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"golang.org/x/tools/go/packages"
)

// switches is the package that the mutated program links.
//
//go:embed mutant/mutant.go
var switches embed.FS

// switchesPath is the folder of that package in the copy's root.
const switchesPath = "mutant"

// file is a source file to mutate.
type file struct {
	path    string // absolute
	rel     string // in the module
	pkg     *packages.Package
	syntax  *ast.File
	text    []byte
	module  string // the module's path
	mutants []mutant
	edits   []edit
	first   int // the number of the mutants before this file's
	names   map[string]int
}

// leftOut matches files in which a mistake breaks no promise: generated code, metrics, the texts of events.
var leftOut = regexp.MustCompile(`(/|^)(zz_generated.*|metrics|events|suite)\.go$|/metrics/`)

// load reads and type-checks the packages of the module in a folder.
func load(folder string, patterns []string) ([]*file, error) {
	config := &packages.Config{
		Dir: folder,
		Mode: packages.NeedName | packages.NeedFiles | packages.NeedSyntax | packages.NeedTypes | packages.NeedTypesInfo |
			packages.NeedImports | packages.NeedDeps | packages.NeedModule,
	}
	found, err := packages.Load(config, patterns...)
	if err != nil {
		return nil, fmt.Errorf("loading %s: %w", strings.Join(patterns, ", "), err)
	}
	var files []*file
	var mistakes []error
	for _, p := range found {
		for _, e := range p.Errors {
			mistakes = append(mistakes, e)
		}
		for i, syntax := range p.Syntax {
			path := p.GoFiles[i]
			rel, err := filepath.Rel(folder, path)
			if err != nil {
				return nil, err
			}
			if leftOut.MatchString(filepath.ToSlash(rel)) {
				continue
			}
			text, err := os.ReadFile(path)
			if err != nil {
				return nil, err
			}
			files = append(files, &file{
				path: path, rel: filepath.ToSlash(rel), pkg: p, syntax: syntax, text: text, module: p.Module.Path,
				names: map[string]int{},
			})
		}
	}
	slices.SortFunc(files, func(a, b *file) int { return strings.Compare(a.rel, b.rel) })
	if len(files) == 0 {
		mistakes = append(mistakes, fmt.Errorf("no Go files in %s", strings.Join(patterns, ", ")))
	}
	return files, errors.Join(mistakes...)
}

// writeSwitches writes the package of switches into the copy.
func writeSwitches(folder string, total int) error {
	text, err := switches.ReadFile("mutant/mutant.go")
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Join(folder, switchesPath), 0o755); err != nil {
		return err
	}
	counted := strings.Replace(string(text), "const Total = 0", fmt.Sprintf("const Total = %d", total), 1)
	return os.WriteFile(filepath.Join(folder, switchesPath, "mutant.go"), []byte(counted), 0o600)
}

func (f *file) offset(p token.Pos) int { return f.pkg.Fset.Position(p).Offset }

func (f *file) source(n ast.Node) string { return string(f.text[f.offset(n.Pos()):f.offset(n.End())]) }

func (f *file) typeOf(e ast.Expr) types.Type { return f.pkg.TypesInfo.TypeOf(e) }
