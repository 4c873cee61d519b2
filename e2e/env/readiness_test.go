package env

import (
	"testing"

	. "github.com/onsi/gomega"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

func TestAPoolSaysWhetherItIsReady(t *testing.T) {
	ready := func(status string, observed ...int64) map[string]any {
		c := map[string]any{"type": "Ready", "status": status}
		for _, o := range observed {
			c["observedGeneration"] = o
		}
		return c
	}
	for name, c := range map[string]struct {
		generation int64 // of the pool; generation 2 is awaited
		condition  map[string]any
		says       bool
	}{
		"ready":                                {2, ready("True", 2), true},
		"not ready":                            {2, ready("False", 2), true},
		"changed since by somebody else":       {3, ready("True", 3), true},
		"of a release that says no generation": {2, ready("True"), true},
		"not seen by the recorder yet":         {1, ready("True"), false},
		"of the generation before":             {2, ready("True", 1), false},
		"unknown":                              {2, ready("Unknown", 2), false},
		"unknown, without a generation":        {2, ready("Unknown"), false},
		"about something else":                 {2, map[string]any{"type": "Initialized", "status": "True"}, false},
	} {
		t.Run(name, func(t *testing.T) {
			status := map[string]any{"conditions": []any{c.condition}}
			pool := &unstructured.Unstructured{Object: map[string]any{"status": status}}
			pool.SetGeneration(c.generation)
			NewWithT(t).Expect(saysReadiness(pool, 2)).To(Equal(c.says))
		})
	}
}
