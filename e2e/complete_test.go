package e2e

import (
	"testing"

	. "github.com/onsi/gomega"
)

func requirement(key string, values ...any) map[string]any {
	return map[string]any{"key": key, "operator": "In", "values": values}
}

func TestBelow(t *testing.T) {
	template := map[string]any{
		"nodeClassRef": map[string]any{"group": "g", "kind": "k"},
		"requirements": []any{requirement("arch", "amd64"), requirement("os", "linux")},
		"expireAfter":  "Never",
	}
	for name, c := range map[string]struct{ own, want map[string]any }{
		"nothing of its own": {map[string]any{}, template},
		"its own value wins": {
			map[string]any{"expireAfter": "30s"},
			map[string]any{"nodeClassRef": template["nodeClassRef"], "requirements": template["requirements"], "expireAfter": "30s"},
		},
		"maps are merged": {
			map[string]any{"nodeClassRef": map[string]any{"name": "n"}},
			map[string]any{"nodeClassRef": map[string]any{"group": "g", "kind": "k", "name": "n"}, "requirements": template["requirements"], "expireAfter": "Never"},
		},
		"requirements by key": {
			map[string]any{"requirements": []any{requirement("arch", "arm64")}},
			map[string]any{"nodeClassRef": template["nodeClassRef"], "requirements": []any{requirement("arch", "arm64"), requirement("os", "linux")}, "expireAfter": "Never"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			NewWithT(t).Expect(below(template, c.own)).To(Equal(c.want))
		})
	}
	NewWithT(t).Expect(template["expireAfter"]).To(Equal("Never"), "the template itself never changes")
}
