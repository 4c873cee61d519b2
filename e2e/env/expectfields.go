package env

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/plumbline-e2e/plumbline/fixtures"
)

// ExpectFields expects that each object, completed as Create does and read in its own version of the
// API, has the fields that it sets. A field that is null must be absent. Of a mapping, the keys that it
// sets count; a list counts as a whole. Durations and quantities count by their values, however they
// are written.
func (e *Env) ExpectFields(ctx context.Context, objects ...fixtures.Object) {
	var wrong []string
	for _, object := range objects {
		wanted := e.complete(ctx, object.Unstructured())
		what := fmt.Sprintf("%s in %s", called(wanted), wanted.GetAPIVersion())
		ref, err := e.refer(wanted)
		if err != nil {
			e.fail(ctx, "reading %s: %w", what, err)
		}
		got, err := e.resourceInterface(ref).Get(ctx, ref.name, metav1.GetOptions{})
		if err != nil {
			e.fail(ctx, "reading %s: %w", what, err)
		}
		e.result.expects(wanted)
		differing := differences("", wanted.Object, got.Object)
		for _, d := range differing {
			wrong = append(wrong, what+": "+d)
		}
		if len(differing) == 0 {
			e.claim(what + " has the fields that are wanted")
		}
	}
	if len(wrong) > 0 {
		e.Fail("%s", strings.Join(wrong, "; "))
	}
}

// differences returns what of a value isn't as wanted.
func differences(path string, wanted, got any) []string {
	switch w := wanted.(type) {
	case map[string]any:
		if g, ok := got.(map[string]any); ok || got == nil {
			return differencesOfKeys(path, w, g)
		}
	case []any:
		if g, ok := got.([]any); (ok || got == nil) && len(g) == len(w) {
			return differencesOfItems(path, w, g)
		}
	case nil:
		if got == nil {
			return nil
		}
		return []string{fmt.Sprintf("%s is %s; wanted is none", path, asText(got))}
	default:
		if same(wanted, got) {
			return nil
		}
	}
	return []string{fmt.Sprintf("%s is %s; wanted is %s", path, asText(got), asText(wanted))}
}

func differencesOfKeys(path string, wanted, got map[string]any) (all []string) {
	for _, key := range slices.Sorted(maps.Keys(wanted)) {
		all = append(all, differences(strings.TrimPrefix(path+"."+key, "."), wanted[key], got[key])...)
	}
	return all
}

func differencesOfItems(path string, wanted, got []any) (all []string) {
	for i := range wanted {
		all = append(all, differences(fmt.Sprintf("%s[%d]", path, i), wanted[i], got[i])...)
	}
	return all
}

// same reports whether two scalars have the same value.
func same(a, b any) bool {
	if a == nil || b == nil || a == b {
		return a == b
	}
	one, other := fmt.Sprint(a), fmt.Sprint(b)
	d, err := time.ParseDuration(one)
	d2, err2 := time.ParseDuration(other)
	if err == nil && err2 == nil {
		return d == d2
	}
	q, err := resource.ParseQuantity(one)
	q2, err2 := resource.ParseQuantity(other)
	if err == nil && err2 == nil {
		return q.Cmp(q2) == 0
	}
	return one == other
}

func asText(value any) string {
	if value == nil {
		return "none"
	}
	text, err := json.Marshal(value)
	if err != nil {
		return err.Error()
	}
	return string(text)
}
