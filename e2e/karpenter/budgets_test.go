package karpenter

import (
	"math"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

func TestAllowed(t *testing.T) {
	now := time.Date(2026, time.January, 5, 9, 30, 0, 0, time.UTC) // a Monday
	b := func(nodes string, more ...any) map[string]any {
		m := map[string]any{"nodes": nodes}
		for i := 0; i < len(more); i += 2 {
			m[more[i].(string)] = more[i+1]
		}
		return m
	}
	for name, c := range map[string]struct {
		budgets []map[string]any
		reason  string
		want    int
	}{
		"none":                   {nil, "Drifted", math.MaxInt32},
		"a number":               {[]map[string]any{b("2")}, "Drifted", 2},
		"a percentage rounds up": {[]map[string]any{b("10%")}, "Drifted", 2},
		"the least counts":       {[]map[string]any{b("5"), b("50%"), b("3")}, "Empty", 3},
		"another reason's":       {[]map[string]any{b("0", "reasons", []any{"Empty"})}, "Drifted", math.MaxInt32},
		"this reason's":          {[]map[string]any{b("0", "reasons", []any{"Empty", "Drifted"})}, "Drifted", 0},
		"inside its window":      {[]map[string]any{b("0", "schedule", "0 9 * * mon-fri", "duration", "8h")}, "Drifted", 0},
		"outside its window": {
			[]map[string]any{b("0", "schedule", "0 9 * * mon-fri", "duration", "10m")},
			"Drifted",
			math.MaxInt32,
		},
		"its window opens right now": {[]map[string]any{b("0", "schedule", "30 9 * * *", "duration", "1m")}, "Drifted", 0},
		"its window ends right now": {
			[]map[string]any{b("0", "schedule", "29 9 * * *", "duration", "1m")},
			"Drifted",
			math.MaxInt32,
		},
		"its window never opens": {
			[]map[string]any{b("0", "schedule", "0 0 31 2 *", "duration", "2h")},
			"Drifted",
			math.MaxInt32,
		},
		"a macro":         {[]map[string]any{b("1", "schedule", "@daily", "duration", "24h")}, "Drifted", 1},
		"nonsense closes": {[]map[string]any{b("5"), b("5", "schedule", "soon", "duration", "1h")}, "Drifted", 0},
	} {
		t.Run(name, func(t *testing.T) {
			var spec []any
			for _, b := range c.budgets {
				spec = append(spec, b)
			}
			pool := &unstructured.Unstructured{Object: map[string]any{
				"spec": map[string]any{"disruption": map[string]any{"budgets": spec}},
			}}
			if got := AllowedDisruptions(Budgets(pool), 11, c.reason, now); got != c.want {
				t.Errorf("%d, want %d", got, c.want)
			}
		})
	}
}
