package suites_test

import (
	"go/ast"
	"go/types"
	"maps"
	"path/filepath"
	"slices"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/plumbline-e2e/plumbline/e2e"
)

// hookOf maps the methods of Env that call one certain hook to it.
var hookOf = map[string]string{
	"FollowInstances": "providers.ListInstances", "TypeLabels": "providers.NodeLabels",
}

// TestSpecsNameTheirHooks checks that a spec names the hooks that it calls, itself or by a function
// of its suite. By these names it gets more time where a hook's effect is slow, and is skipped
// before it begins where the adapter has no such hook.
func TestSpecsNameTheirHooks(t *testing.T) {
	calling := 0
	each(t, func(g *WithT, _ string, spec *e2e.Spec) {
		file, line := parsed(g, spec)
		promise := declaration(file, line)
		calls := called(functions(g, filepath.Dir(file.name)), promise, map[string]bool{})
		if len(calls) > 0 {
			calling++
		}
		g.Expect(named(promise)).To(ContainElements(calls), "the Hooks of %s", spec.ID())
	})
	NewWithT(t).Expect(calling).To(BeNumerically(">", 15), "it looks at what it means")
}

// functions returns the functions of a suite by name.
func functions(g *WithT, suite string) map[string]ast.Node {
	files, err := filepath.Glob(suite + "/*.go")
	g.Expect(err).NotTo(HaveOccurred())
	all := map[string]ast.Node{}
	for _, name := range files {
		for _, d := range parse(g, name).tree.Decls {
			if f, is := d.(*ast.FuncDecl); is && f.Recv == nil {
				all[f.Name.Name] = f.Body
			}
		}
	}
	return all
}

// called returns the hooks that code calls by Env, as they are written there, sorted. It follows
// the functions that the code mentions, but those that were seen.
func called(functions map[string]ast.Node, code ast.Node, seen map[string]bool) []string {
	calls := map[string]bool{}
	ast.Inspect(code, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.CallExpr:
			method, is := n.Fun.(*ast.SelectorExpr)
			switch {
			case !is:
			case (method.Sel.Name == "Hook" || method.Sel.Name == "HookEach") && len(n.Args) > 1:
				calls[types.ExprString(n.Args[1])] = true
			case hookOf[method.Sel.Name] != "":
				calls[hookOf[method.Sel.Name]] = true
			}
		case *ast.Ident:
			if body, is := functions[n.Name]; is && !seen[n.Name] {
				seen[n.Name] = true
				for _, hook := range called(functions, body, seen) {
					calls[hook] = true
				}
			}
		}
		return true
	})
	return slices.Sorted(maps.Keys(calls))
}

// named returns the hooks that a declaration's field Hooks names.
func named(promise ast.Node) []string {
	var names []string
	ast.Inspect(promise, func(n ast.Node) bool {
		field, is := n.(*ast.KeyValueExpr)
		if !is || types.ExprString(field.Key) != "Hooks" {
			return true
		}
		if list, is := field.Value.(*ast.CompositeLit); is {
			for _, hook := range list.Elts {
				names = append(names, types.ExprString(hook))
			}
		}
		return false
	})
	return names
}
