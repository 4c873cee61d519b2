// Package write writes sequences as the source of specs, with the calls that people would write: those of Env, and
// those of the builders of package fixtures. What no builder makes stands there as YAML.
package write

import (
	"fmt"
	"go/format"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/plumbline-e2e/plumbline/e2e/explore"
)

// Spec returns the source of a file with a spec that does what a sequence says, for a package with a Suite. The comment
// says what broke.
func Spec(s explore.Sequence, comment string) (string, error) {
	body, err := statements(s)
	if err != nil {
		return "", err
	}
	var b strings.Builder
	fmt.Fprintf(&b, "// %s\nvar _ = Suite.Add(e2e.Spec{\nName: %q,\n", strings.ReplaceAll(comment, "\n", "\n// "), s.Name)
	if needs := s.Needs(); len(needs) > 0 {
		fmt.Fprintf(&b, "Needs: []providers.Capability{%s},\n", quoted(needs))
	}
	if hooks := s.Hooks(); len(hooks) > 0 {
		fmt.Fprintf(&b, "Hooks: []providers.HookName{%s},\n", quoted(hooks))
	}
	fmt.Fprintf(&b, "Within: %s,\n", duration(s.Within()))
	if s.Foreground() {
		b.WriteString("Foreground: true,\n")
	}
	if breaks := s.Breaks(); len(breaks) > 0 {
		b.WriteString("Breaks: []e2e.Breach{\n")
		for _, invariant := range slices.Sorted(maps.Keys(breaks)) {
			fmt.Fprintf(&b, "{\nInvariant: %q,\nWhy: %q,\n},\n", invariant, breaks[invariant])
		}
		b.WriteString("},\n")
	}
	fmt.Fprintf(&b, "Run: func(ctx context.Context, env *e2e.Env) {\n%s},\n})\n", body)
	text, err := format.Source([]byte(header(b.String()) + b.String()))
	return string(text), err
}

func quoted[T ~string](words []T) string {
	var all []string
	for _, w := range words {
		all = append(all, fmt.Sprintf("%q", string(w)))
	}
	return strings.Join(all, ", ")
}

// header returns the beginning of a file, with the packages that its text uses.
func header(text string) string {
	var b strings.Builder
	b.WriteString("package explored\n\nimport (\n\"context\"\n\"time\"\n\n")
	for _, path := range []string{"e2e", "e2e/explore", "fixtures", "providers"} {
		if strings.Contains(text, path[strings.LastIndex(path, "/")+1:]+".") {
			fmt.Fprintf(&b, "\"github.com/plumbline-e2e/plumbline/%s\"\n", path)
		}
	}
	b.WriteString(")\n\n")
	return b.String()
}

func duration(d time.Duration) string {
	if d%time.Minute == 0 {
		return fmt.Sprintf("%d * time.Minute", d/time.Minute)
	}
	return fmt.Sprintf("%d * time.Second", d/time.Second)
}

// statements returns the body of the spec.
func statements(s explore.Sequence) (string, error) {
	var b strings.Builder
	for _, a := range s.Actions {
		line, err := statement(a)
		if err != nil {
			return "", err
		}
		b.WriteString(line)
		if a.Then.Duration > 0 {
			fmt.Fprintf(&b, "env.Observe(ctx, %s)\n", duration(a.Then.Duration))
		}
	}
	for _, hook := range s.Undo() {
		fmt.Fprintf(&b, "env.Hook(ctx, %q)\n", string(hook))
	}
	b.WriteString("env.ExpectInvariants()\n")
	return b.String(), nil
}

// statement returns what an action does, without the time that passes after it.
func statement(a explore.Action) (string, error) {
	switch a.Do {
	case explore.Apply:
		o, err := object(a.Object)
		create := fmt.Sprintf("env.Create(ctx, %s)\n", o)
		if a.NeedsAnotherNodeClass() {
			create = "env.AnotherNodeClass(ctx)\n" + create
		}
		return create, err
	case explore.Delete, explore.DeleteInForeground:
		o, remove := field{a.Object}, "Remove"
		if a.Do == explore.DeleteInForeground {
			remove = "RemoveInForeground"
		}
		return fmt.Sprintf("env.%s(ctx, fixtures.Existing(%q, %q, %q))\n", remove, o.at("apiVersion").text(),
			o.at("kind").text(), o.at("metadata", "name").text()), nil
	case explore.KillController:
		return "env.KillController(ctx)\n", nil
	case explore.Wait:
		return "", nil
	default:
		return fmt.Sprintf("explore.Action{%s}.Play(ctx, env)\n", fields(a)), nil
	}
}

// fields returns the fields of an action without an object.
func fields(a explore.Action) string {
	all := []string{fmt.Sprintf("Do: %q", string(a.Do))}
	for _, f := range []struct{ name, value string }{
		{"Hook", string(a.Hook)}, {"Pattern", string(a.Pattern)}, {"Request", a.Request},
	} {
		if f.value != "" {
			all = append(all, fmt.Sprintf("%s: %q", f.name, f.value))
		}
	}
	for _, f := range []struct {
		name  string
		value int
	}{{"Node", a.Node}, {"Count", a.Count}, {"Nth", a.Nth}} {
		if f.value != 0 {
			all = append(all, fmt.Sprintf("%s: %d", f.name, f.value))
		}
	}
	return strings.Join(all, ", ")
}
