package main

import (
	"fmt"
	"go/ast"
	"go/constant"
	"go/token"
	"go/types"
	"math"
	"slices"
	"strconv"
)

// constant changes a constant: numbers by one, durations tenfold, booleans, and names to their neighbour's.
func (f *file) constant(p place, e ast.Expr) {
	t := f.pkg.TypesInfo.Types[e]
	if t.Value == nil || !f.changeable(p, e) {
		return
	}
	name, ok := f.typeName(t.Type)
	if !ok {
		return
	}
	basic, ok := t.Type.Underlying().(*types.Basic)
	if !ok {
		return
	}
	var other string
	switch text := f.source(e); {
	case basic.Info()&types.IsBoolean != 0:
		other = strconv.FormatBool(!constant.BoolVal(t.Value))
	case name == "time.Duration" && constant.Sign(t.Value) != 0:
		other = "10*(" + text + ")"
	case basic.Info()&types.IsNumeric != 0 && basic.Info()&types.IsComplex == 0:
		other = text + "+1"
		if constant.Compare(t.Value, token.GTR, constant.MakeInt64(math.MaxInt16)) {
			other = text + "-1" // the largest of its type has no successor
		}
	case basic.Info()&types.IsString != 0:
		if other, ok = f.neighbour(e); !ok {
			return
		}
	default:
		return
	}
	id := f.add(p, "constant", f.source(e), other)
	f.wrap(e, fmt.Sprintf("mutant.Pick(%d, %s(", id, name), fmt.Sprintf("), %s(%s))", name, other))
}

// changeable reports whether a constant is the largest constant expression, where a value may be.
func (f *file) changeable(p place, e ast.Expr) bool {
	switch parent := p.parent().(type) {
	case ast.Expr:
		if f.value(parent) {
			return false // part of a larger one
		}
		switch parent := parent.(type) {
		case *ast.SelectorExpr, *ast.IndexExpr, *ast.SliceExpr, *ast.KeyValueExpr, *ast.ArrayType, *ast.UnaryExpr:
			if kv, ok := parent.(*ast.KeyValueExpr); ok {
				return kv.Value == e
			}
			return false
		case *ast.BinaryExpr:
			return parent.Op != token.SHL && parent.Op != token.SHR
		case *ast.CallExpr:
			return f.takesValues(parent) && parent.Fun != e
		}
	case *ast.CaseClause, *ast.ValueSpec, *ast.Field, *ast.ImportSpec, *ast.BranchStmt, *ast.LabeledStmt:
		return false
	}
	return true
}

// takesValues reports whether a call's arguments may be any value: not those of a conversion, make or min.
func (f *file) takesValues(call *ast.CallExpr) bool {
	t, ok := f.pkg.TypesInfo.Types[call.Fun]
	return ok && !t.IsType() && !t.IsBuiltin()
}

// typeName returns how the file can write a type.
func (f *file) typeName(t types.Type) (string, bool) {
	switch t := t.(type) {
	case *types.Basic:
		return types.Default(t).String(), t.Kind() != types.UntypedNil && t.Kind() != types.Invalid
	case *types.Named:
		if t.TypeArgs() != nil {
			return "", false
		}
		object := t.Obj()
		if object.Pkg() == f.pkg.Types {
			return object.Name(), object.Parent() == f.pkg.Types.Scope()
		}
		prefix, ok := f.importName(object.Pkg())
		return prefix + "." + object.Name(), ok && object.Exported()
	}
	return "", false
}

// importName returns the name by which the file imports a package.
func (f *file) importName(p *types.Package) (string, bool) {
	for _, spec := range f.syntax.Imports {
		path, err := strconv.Unquote(spec.Path.Value)
		if err != nil || p == nil || path != p.Path() {
			continue
		}
		if spec.Name != nil {
			return spec.Name.Name, spec.Name.Name != "_" && spec.Name.Name != "."
		}
		return p.Name(), true
	}
	return "", false
}

// neighbour returns another constant of a named constant's type, the next one in its file.
func (f *file) neighbour(e ast.Expr) (string, bool) {
	prefix := ""
	var name *ast.Ident
	switch e := e.(type) {
	case *ast.Ident:
		name = e
	case *ast.SelectorExpr:
		x, ok := e.X.(*ast.Ident)
		if !ok {
			return "", false
		}
		name, prefix = e.Sel, x.Name+"."
	default:
		return "", false
	}
	is, ok := f.pkg.TypesInfo.Uses[name].(*types.Const)
	if !ok || is.Pkg() == nil || is.Parent() != is.Pkg().Scope() {
		return "", false
	}
	file := f.pkg.Fset.Position(is.Pos()).Filename
	var all []*types.Const
	for _, n := range is.Pkg().Scope().Names() {
		c, ok := is.Pkg().Scope().Lookup(n).(*types.Const)
		if ok && (c.Exported() || c.Pkg() == f.pkg.Types) && types.Identical(c.Type(), is.Type()) &&
			f.pkg.Fset.Position(c.Pos()).Filename == file {
			all = append(all, c)
		}
	}
	slices.SortFunc(all, func(a, b *types.Const) int { return int(a.Pos() - b.Pos()) })
	next := all[(slices.Index(all, is)+1)%len(all)]
	if constant.Compare(next.Val(), token.EQL, is.Val()) {
		return "", false
	}
	return prefix + next.Name(), true
}

// field takes another field of the same type.
func (f *file) field(p place, e ast.Expr) {
	selector, ok := e.(*ast.SelectorExpr)
	if !ok || !pure(selector) || !f.readOnly(p, e) {
		return
	}
	selection := f.pkg.TypesInfo.Selections[selector]
	if selection == nil || selection.Kind() != types.FieldVal || len(selection.Index()) != 1 ||
		!copyable(selection.Type()) {
		return
	}
	t := selection.Recv()
	if pointer, ok := t.Underlying().(*types.Pointer); ok {
		t = pointer.Elem()
	}
	structure, ok := t.Underlying().(*types.Struct)
	if !ok {
		return
	}
	for i := 1; i < structure.NumFields(); i++ {
		other := structure.Field((selection.Index()[0] + i) % structure.NumFields())
		visible := other.Exported() || other.Pkg() == f.pkg.Types
		if types.Identical(other.Type(), selection.Type()) && visible && !other.Embedded() {
			wrong := f.source(selector.X) + "." + other.Name()
			id := f.add(p, "field", f.source(e), wrong)
			f.wrap(e, fmt.Sprintf("mutant.Pick(%d, ", id), ", "+wrong+")")
			return
		}
	}
}

// readOnly reports whether an expression is a value that is read: neither set, nor its address
// taken, nor a part of a longer name.
func (f *file) readOnly(p place, e ast.Expr) bool {
	switch parent := p.parent().(type) {
	case *ast.AssignStmt:
		return slices.Contains(parent.Rhs, e)
	case *ast.CallExpr:
		return parent.Fun != e
	case *ast.SelectorExpr, *ast.UnaryExpr, *ast.StarExpr, *ast.IncDecStmt, *ast.IndexExpr, *ast.SliceExpr,
		*ast.CompositeLit, *ast.ArrayType, *ast.MapType, *ast.TypeAssertExpr, *ast.Field, *ast.ValueSpec:
		return false
	case *ast.KeyValueExpr:
		return parent.Value == e
	case *ast.RangeStmt:
		return parent.X == e
	}
	return true
}

// copyable reports whether a value may be passed on: nothing that holds a lock.
func copyable(t types.Type) bool {
	switch t.Underlying().(type) {
	case *types.Struct, *types.Array, *types.Signature:
		return false
	}
	return true
}

// receiver calls a method of another variable of the same type.
func (f *file) receiver(p place, e ast.Expr) {
	name, ok := e.(*ast.Ident)
	if !ok || len(p.parents) < 2 {
		return
	}
	selector, ok := p.parent().(*ast.SelectorExpr)
	if !ok || selector.X != e {
		return
	}
	call, ok := p.parents[len(p.parents)-2].(*ast.CallExpr)
	if !ok || call.Fun != selector {
		return
	}
	is, ok := f.pkg.TypesInfo.Uses[name].(*types.Var)
	if !ok || is.Pkg() != f.pkg.Types || !copyable(is.Type()) {
		return
	}
	selection := f.pkg.TypesInfo.Selections[selector]
	if selection == nil || selection.Kind() != types.MethodVal {
		return
	}
	if _, pointer := is.Type().Underlying().(*types.Pointer); !pointer {
		return // an address may be taken; maps and contexts are rarely mistaken
	}
	other := f.inScope(e.Pos(), is)
	if other == "" {
		return
	}
	id := f.add(p, "receiver", f.source(selector), other+"."+selector.Sel.Name)
	f.wrap(e, fmt.Sprintf("mutant.Pick(%d, ", id), ", "+other+")")
}

// inScope returns another variable of the type that is in scope, from the innermost outwards.
func (f *file) inScope(at token.Pos, is *types.Var) string {
	for scope := f.pkg.Types.Scope().Innermost(at); scope != nil && scope != f.pkg.Types.Scope(); scope = scope.Parent() {
		for _, n := range scope.Names() {
			v, ok := scope.Lookup(n).(*types.Var)
			if ok && v != is && n != "_" && v.Pos() < at && types.Identical(v.Type(), is.Type()) && n != is.Name() {
				if _, found := f.pkg.Types.Scope().Innermost(at).LookupParent(n, at); found == v {
					return n
				}
			}
		}
	}
	return ""
}
