package main

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"regexp"
	"slices"
	"strings"
)

// place is where a mutant is made.
type place struct {
	node     ast.Node
	parents  []ast.Node // from the function inwards, without the node
	function string     // such as (*Queue).Reconcile
}

func (p place) parent() ast.Node { return p.parents[len(p.parents)-1] }

// mutate finds the file's mutants; their numbers follow first.
func (f *file) mutate(first int) []mutant {
	f.first = first
	for _, d := range f.syntax.Decls {
		decl, ok := d.(*ast.FuncDecl)
		if !ok || decl.Body == nil || leftOutFunctions.MatchString(decl.Name.Name) {
			continue
		}
		function := functionName(decl)
		ast.PreorderStack(decl, nil, func(n ast.Node, parents []ast.Node) bool {
			if len(parents) == 0 || !within(decl.Body, n) {
				return true
			}
			where := place{n, parents, function}
			if f.quiet(n) {
				return false
			}
			f.visit(where)
			return true
		})
	}
	return f.mutants
}

// leftOutFunctions are those whose mistakes show in no promise: descriptions, and how controllers are registered.
var leftOutFunctions = regexp.MustCompile(`^(String|Name|Register|GoString|MarshalLog.*|DeepCopy.*|init)$`)

func within(outer, n ast.Node) bool {
	return outer.Pos() <= n.Pos() && n.End() <= outer.End() && n != outer
}

func functionName(d *ast.FuncDecl) string {
	if d.Recv == nil || len(d.Recv.List) == 0 {
		return d.Name.Name
	}
	return types.ExprString(d.Recv.List[0].Type) + "." + d.Name.Name
}

// quietPackages are those whose calls say something and do nothing: logs, metrics, wrapped errors.
var quietPackages = regexp.MustCompile(
	`go-logr/logr|/log$|^fmt$|prometheus|operatorpkg/(metrics|serrors)|/metrics$|/tracing|^runtime/pprof$|/injection$`)

// quiet reports whether a node is a call that only says something, or an import of such.
func (f *file) quiet(n ast.Node) bool {
	call, ok := n.(*ast.CallExpr)
	if s, is := n.(*ast.ExprStmt); is {
		call, ok = s.X.(*ast.CallExpr)
	}
	if d, is := n.(*ast.DeferStmt); is {
		call, ok = d.Call, true
	}
	if !ok {
		return false
	}
	selector, ok := ast.Unparen(call.Fun).(*ast.SelectorExpr)
	if !ok {
		return false
	}
	object := f.pkg.TypesInfo.Uses[selector.Sel]
	if object == nil || object.Pkg() == nil {
		return false
	}
	return quietPackages.MatchString(object.Pkg().Path())
}

// visit makes the mutants of one node.
func (f *file) visit(p place) {
	switch n := p.node.(type) {
	case *ast.IfStmt:
		f.negate(p, n.Cond)
	case *ast.CaseClause:
		if s, ok := f.switchOf(p); ok && s.Tag == nil {
			for _, e := range n.List {
				f.negate(p, e)
			}
		}
	case *ast.ReturnStmt:
		f.returned(p, n)
	case *ast.BinaryExpr:
		f.binary(p, n)
	case *ast.ExprStmt, *ast.AssignStmt, *ast.IncDecStmt, *ast.BranchStmt:
		f.drop(p)
	case *ast.RangeStmt:
		f.firstOnly(p, n)
	case *ast.CallExpr:
		f.arguments(p, n)
	}
	if e, ok := p.node.(ast.Expr); ok {
		f.constant(p, e)
		f.field(p, e)
		f.receiver(p, e)
	}
}

func (f *file) switchOf(p place) (*ast.SwitchStmt, bool) {
	if len(p.parents) < 2 {
		return nil, false
	}
	s, ok := p.parents[len(p.parents)-2].(*ast.SwitchStmt)
	return s, ok
}

// plainBool reports whether an expression is a condition whose value the switches can take.
func (f *file) plainBool(e ast.Expr) bool {
	t := f.typeOf(e)
	if t == nil || f.value(e) {
		return false
	}
	basic, ok := t.(*types.Basic)
	return ok && basic.Info()&types.IsBoolean != 0
}

// value reports whether an expression is constant.
func (f *file) value(e ast.Expr) bool { return f.pkg.TypesInfo.Types[e].Value != nil }

func (f *file) negate(p place, cond ast.Expr) {
	if !f.plainBool(cond) {
		return
	}
	id := f.add(p, "negate", f.source(cond), "!("+f.source(cond)+")")
	f.wrap(cond, fmt.Sprintf("mutant.Not(%d, ", id), ")")
}

// returned negates a returned condition, and swallows a returned error.
func (f *file) returned(p place, n *ast.ReturnStmt) {
	if len(n.Results) == 0 {
		return
	}
	last := n.Results[len(n.Results)-1]
	if len(n.Results) == 1 {
		f.negate(p, last)
	}
	if t := f.typeOf(last); t != nil && types.Identical(t, types.Universe.Lookup("error").Type()) {
		id := f.add(p, "swallow", f.source(last), "nil")
		f.wrap(last, fmt.Sprintf("mutant.Error(%d, ", id), ")")
	}
}

// compared are the switches of comparisons.
func compared() map[token.Token][2]string {
	return map[token.Token][2]string{
		token.LSS: {"Less", "<="}, token.LEQ: {"LessEqual", "<"},
		token.GTR: {"Greater", ">="}, token.GEQ: {"GreaterEqual", ">"},
	}
}

func (f *file) binary(p place, n *ast.BinaryExpr) {
	if f.value(n) {
		return
	}
	switch n.Op {
	case token.LAND, token.LOR:
		name, constant := "True", "true"
		if n.Op == token.LOR {
			name, constant = "False", "false"
		}
		for _, operand := range []ast.Expr{n.X, n.Y} {
			if !f.plainBool(operand) {
				continue
			}
			id := f.add(p, "operand", f.source(n), strings.Replace(f.source(n), f.source(operand), constant, 1))
			f.wrap(operand, fmt.Sprintf("mutant.%s(%d, ", name, id), ")")
		}
	case token.LSS, token.LEQ, token.GTR, token.GEQ:
		c := compared()[n.Op]
		if f.sameOperands(n, types.IsOrdered) {
			f.call(p, n, "boundary", c[0], c[1])
		}
	case token.ADD, token.SUB:
		name, other := "Add", "-"
		if n.Op == token.SUB {
			name, other = "Subtract", "+"
		}
		if f.sameOperands(n, types.IsNumeric) {
			f.call(p, n, "arithmetic", name, other)
		}
	}
}

// sameOperands reports whether a function of one type parameter can take both operands.
func (f *file) sameOperands(n *ast.BinaryExpr, info types.BasicInfo) bool {
	typed := func(e ast.Expr) types.Type {
		t := f.typeOf(e)
		if b, ok := t.(*types.Basic); ok && b.Info()&types.IsUntyped != 0 {
			return nil
		}
		return t
	}
	x, y := typed(n.X), typed(n.Y)
	if x == nil || y == nil || !types.Identical(x, y) || f.value(n.X) && f.value(n.Y) {
		return false
	}
	b, ok := x.Underlying().(*types.Basic)
	return ok && b.Info()&info != 0 && b.Info()&types.IsComplex == 0
}

// call makes a call of a binary expression: a < b is mutant.Less(7, a, b).
func (f *file) call(p place, n *ast.BinaryExpr, operator, name, other string) {
	id := f.add(p, operator, f.source(n), f.source(n.X)+" "+other+" "+f.source(n.Y))
	f.wrap(n, fmt.Sprintf("mutant.%s(%d, ", name, id), ")")
	f.replace(f.offset(n.OpPos), len(n.Op.String()), ",")
}

// drop leaves a statement out.
func (f *file) drop(p place) {
	switch p.parent().(type) {
	case *ast.BlockStmt, *ast.CaseClause, *ast.CommClause:
	default:
		return // the parts of if, for and switch must stay
	}
	if clause, ok := p.parent().(*ast.CommClause); ok && clause.Comm == p.node {
		return
	}
	switch n := p.node.(type) {
	case *ast.ExprStmt:
		call, ok := n.X.(*ast.CallExpr)
		if ok && f.pkg.TypesInfo.Types[call.Fun].IsBuiltin() && f.source(call.Fun) == "panic" {
			return // a function may end with it
		}
	case *ast.AssignStmt:
		if n.Tok == token.DEFINE || f.discards(n) {
			return
		}
	case *ast.BranchStmt:
		if n.Tok != token.CONTINUE && n.Tok != token.BREAK {
			return
		}
	}
	id := f.add(p, "drop", f.source(p.node), "")
	f.wrap(p.node, fmt.Sprintf("if !mutant.On(%d) { ", id), " }")
}

// discards reports whether an assignment keeps nothing.
func (f *file) discards(n *ast.AssignStmt) bool {
	return !slices.ContainsFunc(n.Lhs, func(e ast.Expr) bool {
		name, ok := e.(*ast.Ident)
		return !ok || name.Name != "_"
	})
}

// firstOnly ends a loop after its first element. It makes a difference if there are others; where they can't be
// counted, each end of the body counts.
func (f *file) firstOnly(p place, n *ast.RangeStmt) {
	id := f.add(p, "first", "for each of "+f.source(n.X), "for the first of "+f.source(n.X))
	switch f.typeOf(n.X).Underlying().(type) {
	case *types.Slice:
		f.wrap(n.X, fmt.Sprintf("mutant.First(%d, ", id), ")")
	case *types.Map:
		f.wrap(n.X, fmt.Sprintf("mutant.Any(%d, ", id), ")")
	default:
		end := f.offset(n.Body.Rbrace)
		f.edits = append(f.edits, edit{end, end, fmt.Sprintf("if mutant.On(%d) { break }; ", id), "", len(f.edits)})
	}
}

// arguments swaps neighbouring arguments of one type.
func (f *file) arguments(p place, n *ast.CallExpr) {
	if t, ok := f.pkg.TypesInfo.Types[n.Fun]; ok && (t.IsType() || t.IsBuiltin()) {
		return
	}
	if n.Ellipsis.IsValid() {
		return
	}
	for i := 0; i+1 < len(n.Args); i++ {
		a, b := n.Args[i], n.Args[i+1]
		if !pure(a) || !pure(b) || f.value(a) || f.value(b) || f.source(a) == f.source(b) {
			continue
		}
		x, y := f.typeOf(a), f.typeOf(b)
		if x == nil || y == nil || !types.Identical(x, y) || untypedNil(x) {
			continue
		}
		id := f.add(p, "swap", f.source(a)+", "+f.source(b), f.source(b)+", "+f.source(a))
		f.wrap(a, fmt.Sprintf("mutant.Pick(%d, ", id), ", "+f.source(b)+")")
		f.wrap(b, fmt.Sprintf("mutant.Pick(%d, ", id), ", "+f.source(a)+")")
		i++
	}
}

func untypedNil(t types.Type) bool {
	b, ok := t.(*types.Basic)
	return ok && b.Kind() == types.UntypedNil
}

// pure reports whether an expression can be evaluated twice: a name, or a field of one.
func pure(e ast.Expr) bool {
	switch e := e.(type) {
	case *ast.Ident:
		return true
	case *ast.SelectorExpr:
		return pure(e.X)
	}
	return false
}
