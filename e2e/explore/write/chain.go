package write

import (
	"fmt"
	"reflect"
	"strings"
)

// chain is an expression of calls of fixtures' builders, and what it builds.
type chain struct {
	calls []string // the source of each
	built reflect.Value
}

// begin calls a function of package fixtures, or of explore's.
func begin(name string, function any, args ...any) *chain {
	return &chain{[]string{name + arguments(args)}, reflect.ValueOf(function).Call(values(args))[0]}
}

// then calls a method of what was built. A builder without it can't build the object, as its result shows.
func (c *chain) then(method string, args ...any) *chain {
	if m := c.built.MethodByName(method); m.IsValid() {
		c.calls = append(c.calls, method+arguments(args))
		c.built = m.Call(values(args))[0]
	}
	return c
}

// arguments returns the source of a call's arguments.
func arguments(args []any) string {
	var all []string
	for _, arg := range args {
		if c, ok := arg.(*chain); ok {
			all = append(all, c.String())
			continue
		}
		all = append(all, fmt.Sprintf("%#v", arg))
	}
	return "(" + strings.Join(all, ", ") + ")"
}

func values(args []any) (all []reflect.Value) {
	for _, arg := range args {
		if c, ok := arg.(*chain); ok {
			all = append(all, c.built)
			continue
		}
		all = append(all, reflect.ValueOf(arg))
	}
	return all
}

// lineLength is about how long a line of calls may be.
const lineLength = 90

// String returns the source of the expression, in as many lines as it takes.
func (c *chain) String() string {
	var b strings.Builder
	length := 0
	for i, call := range c.calls {
		switch length += len(call); {
		case i == 0:
		case length > lineLength:
			b.WriteString(".\n")
			length = len(call)
		default:
			b.WriteString(".")
		}
		b.WriteString(call)
	}
	return b.String()
}
