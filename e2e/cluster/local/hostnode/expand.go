package hostnode

import "strings"

// expand replaces each $(NAME) that value knows, and $$ by $. It keeps unknown names. The
// Kubernetes API documents this for container.command, args and env.
func expand(s string, value func(name string) (string, bool)) string {
	var b strings.Builder
	for {
		before, after, found := strings.Cut(s, "$")
		b.WriteString(before)
		if !found {
			return b.String()
		}
		s = after
		switch {
		case strings.HasPrefix(s, "$"):
			b.WriteByte('$')
			s = s[1:]
		case strings.HasPrefix(s, "("):
			name, rest, closed := strings.Cut(s[1:], ")")
			if !closed {
				b.WriteByte('$')
				continue
			}
			if v, ok := value(name); ok {
				b.WriteString(v)
			} else {
				b.WriteString("$(" + name + ")")
			}
			s = rest
		default:
			b.WriteByte('$')
		}
	}
}

// lookupIn returns a lookup in maps; the first that has a name wins.
func lookupIn(maps ...map[string]string) func(string) (string, bool) {
	return func(name string) (string, bool) {
		for _, m := range maps {
			if v, ok := m[name]; ok {
				return v, true
			}
		}
		return "", false
	}
}
