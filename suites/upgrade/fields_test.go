package upgrade

import (
	"testing"

	. "github.com/onsi/gomega"
)

func TestLostFields(t *testing.T) {
	was := map[string]any{
		"metadata": map[string]any{
			"name": "pool", "resourceVersion": "1", "labels": map[string]any{"a": "b"},
			"annotations": map[string]any{"acme.example/class-hash": "1", "acme.example/class-hash-version": "v1"},
		},
		"spec": map[string]any{"weight": int64(1), "taints": []any{map[string]any{"key": "x"}}},
	}
	for _, c := range []struct {
		about string
		is    map[string]any
		lost  []string
	}{
		{"more fields, and volatile ones", map[string]any{
			"metadata": map[string]any{
				"name": "pool", "resourceVersion": "2", "labels": map[string]any{"a": "b", "c": "d"},
				"annotations": map[string]any{"acme.example/class-hash": "2", "acme.example/class-hash-version": "v2"},
			},
			"spec": map[string]any{"weight": int64(1), "taints": []any{map[string]any{"key": "x"}}, "replicas": int64(1)},
		}, nil},
		{"a dropped label, an item of a list, and another value", map[string]any{
			"metadata": map[string]any{"name": "pool", "resourceVersion": "2"},
			"spec":     map[string]any{"weight": int64(2), "taints": []any{}},
		}, []string{
			"metadata.annotations was map[acme.example/class-hash:1 acme.example/class-hash-version:v1], and is <nil>",
			"metadata.labels was map[a:b], and is <nil>",
			"spec.taints was [map[key:x]], and is []",
			"spec.weight was 1, and is 2",
		}},
	} {
		t.Run(c.about, func(t *testing.T) {
			NewWithT(t).Expect(lostFields("", was, c.is)).To(Equal(c.lost))
		})
	}
}
